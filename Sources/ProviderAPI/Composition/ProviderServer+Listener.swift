import Hummingbird
import HummingbirdCore
import NIOCore
import PushHTTP
import PushSupport

extension ProviderServer {
    /// Listens until shutdown.
    func serve() async throws {
        // This has no effect once the listener is bound.
        defer { self.listening.resolve(.failure(ProviderError.ended)) }
        let (host, port) = (self.core.configuration.host, self.core.configuration.port)
        let limits = self.core.configuration.limits
        let (unauthenticated, held) = (self.core.unauthenticated, self.core.connections)
        let application = Application(
            router: self.api.router(with: self.pages, self.addition),
            server: .bounded(
                deadline: TimeAmount(limits.request),
                idle: TimeAmount(limits.idle),
                decoder: Self.headLimits,
                tls: self.certificate,
                unauthenticated: unauthenticated,
                held: held,
                listener: "api",
                // `OperationRunner` assigns the connection once it knows the key.
                isAuthenticated: { _, _ in false }
            ),
            configuration: .init(
                address: .hostname(host, port: port),
                backlog: Self.backlog,
                availableConnectionsDelegate: MaximumAvailableConnections(
                    limits.connections + ProviderCore.acceptedBeyond
                )
            ),
            onServerRunning: { channel in
                // A listener that has ended meanwhile cannot be limited.
                try? await held.rates.limit(channel)
                self.listening.resolve(.success(channel.localAddress?.port ?? port))
                // Requests wait until the first admin key is in its file.
                _ = try? await self.bound.value
            },
            logger: self.core.logger.forHTTPServer
        )
        do {
            try await application.run()
        } catch let error where error is IOError || error is SocketAddressError.UnknownHost {
            throw ProviderError.cannotListen(address: "\(host):\(port)", why: ErrorDescription.of(error))
        }
    }

    /// The maximum number of connections that wait in the system's queue to be accepted.
    ///
    /// The system may lower it, as macOS does to 128 by default. A client whose connection finds the queue full tries again after
    /// a second. Hummingbird's default of 256 is too low for a burst of a thousand clients.
    private static let backlog = 1024

    /// Limits with room for a path, a cursor and a key.
    private static let headLimits = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: 16 * 1024,
        maxHeaderListSize: 32 * 1024,
        maxHeaderFieldCount: 100
    )
}
