package import Logging
import NIOPosix
import NIOSSL
package import PushProtocol
import ServiceLifecycle
import Synchronization

/// One ``Sender`` per environment and key, because a connection belongs to one team (reference 1.11).
package final class SenderPool: SenderSource, Service {
    private struct Lane: Hashable {
        var environment: PushEnvironment
        var teamID: String
        var keyID: String
        var publicKey: [UInt8]
    }

    private struct PushService: Sendable {
        var endpoint: PushServiceEndpoint
        var tls: NIOSSLContext
    }

    private let sandbox: PushService
    private let production: PushService
    private let configuration: SenderConfiguration
    private let time: any TimeSource
    private let logger: Logger
    private let senders = Mutex<[Lane: Sender]>([:])

    /// - Parameter endpoints: where to send; an environment that is left out means Apple's own service.
    /// - Throws: when additional trust roots are not PEM certificates.
    package init(
        endpoints: [PushEnvironment: PushServiceEndpoint] = [:],
        configuration: SenderConfiguration = SenderConfiguration(),
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) throws {
        func service(_ environment: PushEnvironment) throws -> PushService {
            let endpoint = endpoints[environment] ?? .apple(environment)
            return PushService(
                endpoint: endpoint,
                tls: try NIOSSLContext(configuration: endpoint.tlsConfiguration())
            )
        }
        self.sandbox = try service(.sandbox)
        self.production = try service(.production)
        self.configuration = configuration
        self.time = time
        self.logger = logger
    }

    package func sender(for key: ProviderKey, environment: PushEnvironment) -> any NotificationSender {
        let lane = Lane(
            environment: environment,
            teamID: key.teamID,
            keyID: key.keyID,
            publicKey: key.publicKey
        )
        return self.senders.withLock { senders in
            if let sender = senders[lane] { return sender }
            let service = environment == .sandbox ? self.sandbox : self.production
            let sender = Sender(
                pool: ConnectionPool(
                    endpoint: service.endpoint,
                    identity: SenderIdentity(tls: service.tls, token: SharedProviderToken(key)),
                    configuration: self.configuration,
                    group: MultiThreadedEventLoopGroup.singleton,
                    time: self.time,
                    logger: self.logger
                )
            )
            senders[lane] = sender
            return sender
        }
    }

    /// Runs until graceful shutdown or cancellation, then closes every connection.
    package func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Closes every connection. What is still in flight ends with ``Outcome/unknown(_:)``.
    package func close() async {
        let senders = self.senders.withLock { senders in
            defer { senders = [:] }
            return Array(senders.values)
        }
        for sender in senders { await sender.close() }
    }
}
