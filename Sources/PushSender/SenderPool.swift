package import Logging
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// Keeps one ``Sender`` for each app, environment, credential and lane.
///
/// A connection belongs to one team (reference 1.11). Apps of a team do not share connections either: an app whose pushes
/// get no responses would occupy the streams of the others.
package final class SenderPool: SenderSource, Service {
    private struct Key: Hashable {
        var app: Int64
        var environment: PushEnvironment
        var credential: String
        var lane: SenderLane
    }

    private let endpoints: [PushEnvironment: PushServiceEndpoint]
    private let configuration: SenderConfiguration
    private let time: any TimeSource
    private let logger: Logger
    private let senders = Mutex<[Key: Sender]>([:])

    /// Creates a pool without connections.
    ///
    /// - Parameter endpoints: The push service of each environment; one that is left out is Apple's.
    /// - Throws: An error of swift-nio-ssl when additional trust roots are not PEM certificates.
    package init(
        endpoints: [PushEnvironment: PushServiceEndpoint] = [:],
        configuration: SenderConfiguration = SenderConfiguration(),
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) throws {
        // Invalid trust roots fail at the start, not at the first push.
        for endpoint in endpoints.values { _ = try endpoint.tlsConfiguration() }
        (self.endpoints, self.configuration, self.time, self.logger) = (endpoints, configuration, time, logger)
    }

    /// Returns the app's sender for the lane, which is created at the first call.
    package func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender {
        let key = Key(app: app, environment: environment, credential: credential.identity, lane: lane)
        return try self.senders.withLock { senders in
            if let sender = senders[key] { return sender }
            let sender = try Sender(
                to: self.endpoints[environment] ?? .apple(environment),
                credential: credential,
                configuration: self.configuration,
                time: self.time,
                logger: self.logger
            )
            senders[key] = sender
            return sender
        }
    }

    /// Removes the app's senders with the credential. Each one drains when the last page that uses it has released it.
    package func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {
        let identity = credential.identity
        // The senders are released after the lock.
        let retired = self.senders.withLock { senders in
            SenderLane.allCases.compactMap { lane in
                senders.removeValue(
                    forKey: Key(app: app, environment: environment, credential: identity, lane: lane)
                )
            }
        }
        withExtendedLifetime(retired) {}
    }

    /// Waits for graceful shutdown or cancellation, then closes every connection.
    package func run() async throws {
        try? await gracefulShutdown()
        await self.close()
    }

    /// Drains all senders and closes their connections.
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
