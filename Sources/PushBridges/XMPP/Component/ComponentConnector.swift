import NIOCore
import NIOPosix
import NIOSSL
import PushSupport

/// Opens connections to the server of a component.
struct ComponentConnector: Sendable {
    typealias Channel = NIOAsyncChannel<ComponentEvent, ComponentResponse>

    let bridge: ComponentBridge
    /// The time to connect.
    let timeout: Duration

    func connect() async throws -> Channel {
        let settings = self.bridge.settings
        let tls = settings.security == .direct ? try self.tls() : nil
        let bridge = self.bridge
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(self.timeout))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .connect(host: settings.host, port: settings.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let name = settings.host.serverName
                    if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name)) }
                    // A server that takes no answers is read no further.
                    try pipeline.addHandlers([BackPressureHandler(), ComponentHandler(Self.stateMachine(bridge))])
                    return try Channel(wrappingChannelSynchronously: channel)
                }
            }
    }

    private static func stateMachine(_ bridge: ComponentBridge) -> ComponentStateMachine {
        ComponentStateMachine(domain: bridge.name, secret: bridge.secret, dialects: bridge.settings.dialects)
    }

    private func tls() throws -> NIOSSLContext {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.trustRoots = try self.bridge.settings.trustRoots()
        return try NIOSSLContext(configuration: tls)
    }
}
