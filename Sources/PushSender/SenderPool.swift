import AsyncHTTPClient
package import Logging
import NIOCore
import NIOSSL
package import PushProtocol
import ServiceLifecycle
import Synchronization

/// One HTTP/2 client per environment and key, because a connection belongs to one team (reference 1.11).
package final class SenderPool: SenderSource, Service {
    private struct Lane: Hashable {
        var environment: PushEnvironment
        var teamID: String
        var keyID: String
        var publicKey: [UInt8]
    }

    private let endpoints: [PushEnvironment: PushServiceEndpoint]
    private let tls: [PushEnvironment: TLSConfiguration]
    private let time: any TimeSource
    private let logger: Logger
    private let senders = Mutex<[Lane: HTTPClientSender]>([:])

    /// - Parameter endpoints: where to send; an environment that is left out means Apple's own service.
    /// - Throws: when additional trust roots are not PEM certificates.
    package init(
        endpoints: [PushEnvironment: PushServiceEndpoint] = [:],
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) throws {
        var all: [PushEnvironment: PushServiceEndpoint] = [:]
        var tls: [PushEnvironment: TLSConfiguration] = [:]
        for environment in PushEnvironment.allCases {
            let endpoint = endpoints[environment] ?? .apple(environment)
            all[environment] = endpoint
            tls[environment] = try Self.tlsConfiguration(for: endpoint)
        }
        self.endpoints = all
        self.tls = tls
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
            let sender = HTTPClientSender(
                endpoint: self.endpoints[environment] ?? .apple(environment),
                key: key,
                client: HTTPClient(
                    eventLoopGroupProvider: .singleton,
                    configuration: self.clientConfiguration(environment)
                ),
                time: self.time
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
        for sender in senders {
            do {
                try await sender.shutdown()
            } catch {
                self.logger.warning("push service client did not close cleanly", metadata: ["error": "\(error)"])
            }
        }
    }

    private static func tlsConfiguration(for endpoint: PushServiceEndpoint) throws -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let roots = endpoint.additionalTrustRoots {
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots.utf8)))]
        }
        return tls
    }

    private func clientConfiguration(_ environment: PushEnvironment) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: self.tls[environment],
            redirectConfiguration: .disallow
        )
        configuration.timeout.connect = (self.endpoints[environment]?.connectTimeout).map(TimeAmount.init(_:))
        // Apple asks for connections that live for hours (reference 1.11).
        configuration.connectionPool.idleTimeout = .hours(1)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
