import NIOCore
import NIOPosix
import NIOSSL
import PushProvider
import PushSupport

/// Opens connections to chat servers.
///
/// For each connection, the server's name is resolved and the address is checked. The connection is then opened to
/// exactly that address.
final class ChatConnector: Sendable {
    let addresses: AddressPolicy
    private let timeout: Duration
    private let resolver: any NameResolver
    /// The TLS context of all connections. It is shared because the certificate authorities take megabytes of memory.
    private let tls: Result<NIOSSLContext, any Error>

    /// Creates a connector. If the authorities cannot be parsed, each connection fails.
    /// - Parameter authorities: Certificate authorities, in PEM, that are trusted besides those of the system.
    init(addresses: AddressPolicy, authorities: String?, resolver: any NameResolver, timeout: Duration) {
        self.tls = Result {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.minimumTLSVersion = .tlsv12
            if let authorities {
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(authorities.utf8)))]
            }
            return try NIOSSLContext(configuration: tls)
        }
        (self.addresses, self.resolver, self.timeout) = (addresses, resolver, timeout)
    }

    /// Opens a connection to a chat server.
    /// - Parameters:
    ///   - app: The id of the app, whose name resolutions share a limit.
    ///   - attempt: The number of the attempt. Successive attempts use different addresses of the name.
    ///   - initialize: Adds the handlers to the channel, on its event loop.
    /// - Throws: ``ChatFailure`` if the address is not allowed, which is final, or cannot be reached.
    func connect(
        to host: String,
        port: Int,
        app: Int64,
        attempt: Int,
        on eventLoop: any EventLoop,
        _ initialize: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws(ChatFailure) {
        let server: ChatServerAddress
        do {
            server = try ChatServerAddress(host: host, port: port, policy: self.addresses)
        } catch {
            throw ChatFailure("the server's address is not allowed: \(error.message)", isFinal: true)
        }
        let address = try await self.address(of: server, app: app, attempt: attempt)
        do {
            let remote = try SocketAddress(ipAddress: address.description, port: server.port)
            _ = try await ClientBootstrap(group: eventLoop)
                .connectTimeout(TimeAmount(self.timeout))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.socketOption(.so_keepalive), value: 1)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 4096))
                .channelInitializer(initialize)
                .connect(to: remote)
                .get()
        } catch {
            throw ChatFailure("no connection: \(ErrorDescription.of(error))")
        }
    }

    private func address(
        of server: ChatServerAddress,
        app: Int64,
        attempt: Int
    ) async throws(ChatFailure) -> IPAddress {
        if let literal = server.literal { return literal }
        let found: [IPAddress]
        do {
            let host = server.host
            found = try await self.resolver.addresses(of: host, for: app, givenBy: .users, within: self.timeout)
        } catch {
            throw ChatFailure("no connection: \(error)")
        }
        guard let address = self.addresses.choice(of: found, attempt: attempt) else {
            throw ChatFailure("the server's name resolves to private or reserved addresses only")
        }
        return address
    }

    /// Creates a TLS handler that verifies the server's certificate for a host name.
    func handler(for name: String) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: self.tls.get(), serverHostname: name.serverName)
    }
}
