package import Logging
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// One ``Sender`` per app, environment, credential and lane.
///
/// A connection belongs to one team (reference 1.11). Apps of a team do not share it either: one whose pushes have no answers
/// would keep the streams of the others.
package final class SenderPool: SenderSource, Service {
    private struct Lane: Hashable {
        var app: Int64
        var environment: PushEnvironment
        var credential: String
        var lane: SenderLane
    }

    private let endpoints: [PushEnvironment: PushServiceEndpoint]
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
        // Trust roots that are none show now, not at the first push.
        for endpoint in endpoints.values { _ = try endpoint.tlsConfiguration() }
        self.endpoints = endpoints
        self.configuration = configuration
        self.time = time
        self.logger = logger
    }

    package func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender {
        let lane = Lane(app: app, environment: environment, credential: credential.identity, lane: lane)
        return try self.senders.withLock { senders in
            if let sender = senders[lane] { return sender }
            let sender = try Sender(
                to: self.endpoints[environment] ?? .apple(environment),
                credential: credential,
                configuration: self.configuration,
                time: self.time,
                logger: self.logger
            )
            senders[lane] = sender
            return sender
        }
    }

    /// Gives out the app's senders with the credential no more. Each closes its connections when the last page that has it lets it go,
    /// and the replies in flight arrive before.
    package func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {
        let identity = credential.identity
        // Their ends come after the lock.
        let retired = self.senders.withLock { senders in
            SenderLane.allCases.compactMap { lane in
                senders.removeValue(
                    forKey: Lane(app: app, environment: environment, credential: identity, lane: lane)
                )
            }
        }
        withExtendedLifetime(retired) {}
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
        await withTaskGroup(of: Void.self) { group in
            for sender in senders { group.addTask { await sender.close() } }
        }
    }
}
