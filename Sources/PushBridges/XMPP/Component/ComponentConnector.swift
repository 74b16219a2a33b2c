import NIOCore
import NIOPosix
import NIOSSL
import PushProvider
import PushSupport

/// Opens connections from an XMPP push component to its server.
struct ComponentConnector: Sendable {
    typealias Channel = NIOAsyncChannel<ComponentEvent, ComponentResponse>

    let bridge: ConfiguredComponent
    /// The maximum time for resolving a name, and for connecting. An attempt that takes longer fails.
    let timeout: Duration
    /// The rules for the addresses of servers that were named by callers with API keys for single apps.
    let addresses: AddressPolicy
    let resolver: any NameResolver

    /// Opens a connection. Throws ``ComponentFailure/notPublic`` if the server's name has no allowed address.
    /// - Parameter attempt: The number of the attempt. Successive attempts use different addresses of the name.
    func connect(attempt: Int) async throws -> Channel {
        let settings = self.bridge.settings
        let tls = settings.security == .direct ? try self.tls() : nil
        let bridge = self.bridge
        let initialize: @Sendable (any NIOCore.Channel) -> EventLoopFuture<Channel> = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let name = settings.host.serverName
                if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name)) }
                // If the server does not read, the component does not read from it either.
                let (secret, dialects) = (bridge.secret, bridge.settings.dialects)
                let machine = ComponentStateMachine(domain: bridge.name, secret: secret, dialects: dialects)
                try pipeline.addHandlers([BackPressureHandler(), ComponentHandler(machine)])
                return try Channel(wrappingChannelSynchronously: channel)
            }
        }
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(self.timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
        guard settings.isPublicOnly else {
            return try await bootstrap.connect(host: settings.host, port: settings.port, channelInitializer: initialize)
        }
        let address = try await self.address(attempt: attempt)
        let remote = try SocketAddress(ipAddress: address.description, port: settings.port)
        return try await bootstrap.connect(to: remote, channelInitializer: initialize)
    }

    /// Resolves the server's name, and returns the allowed address for this attempt.
    private func address(attempt: Int) async throws -> IPAddress {
        let (host, app) = (self.bridge.settings.host, self.bridge.app)
        var found = IPAddress(host).map { [$0] } ?? []
        if found.isEmpty {
            found = try await self.resolver.addresses(of: host, for: app, givenBy: .settings, within: self.timeout)
        }
        guard let address = self.addresses.choice(of: found, attempt: attempt) else { throw ComponentFailure.notPublic }
        return address
    }

    private func tls() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = try self.bridge.settings.trustRoots()
        return try NIOSSLContext(configuration: tls)
    }
}
