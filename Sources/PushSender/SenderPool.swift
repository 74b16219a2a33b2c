package import Logging
import NIOPosix
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
    /// The ports of the push services that have two. All apps share what is known of them.
    private let ports: [PushEnvironment: PortSelector]
    private let time: any TimeSource
    private let logger: Logger
    private let senders = Mutex<[Key: Sender]>([:])
    /// The services for channels. An unused one has no connection.
    private let channelServices = Mutex<[Key: ChannelService]>([:])
    private let observer = Mutex<AppConnectionObserver?>(nil)

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
        self.ports = try endpoints.compactMapValues { endpoint in
            let group = MultiThreadedEventLoopGroup.singleton
            return try PortSelector(endpoint, proxy: configuration.proxy, group: group, time: time, logger: logger)
        }
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
                to: self.endpoint(of: environment),
                credential: credential,
                configuration: self.configuration,
                environment: environment,
                time: self.time,
                ports: self.ports[environment],
                observer: { failure in
                    let observer = self.observer.withLock { $0 }
                    observer?(app, environment, failure)
                },
                logger: self.logger
            )
            senders[key] = sender
            return sender
        }
    }

    package func channels(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) throws -> any ChannelManaging {
        let key = Key(app: app, environment: environment, credential: credential.identity, lane: .urgent)
        return try self.channelServices.withLock { services in
            if let service = services[key] { return service }
            let service = try ChannelService(
                to: self.endpoint(of: environment).forChannels,
                credential: credential,
                self.configuration,
                time: self.time,
                logger: self.logger
            )
            services[key] = service
            return service
        }
    }

    package func testSender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) throws -> any NotificationSender {
        var endpoint = self.endpoint(of: environment)
        endpoint.connectTimeout = min(endpoint.connectTimeout, SenderConfiguration.testTimeout / 2)
        // The caller reports the result. A warning for each probe would be too much.
        var logger = self.logger
        if logger.logLevel > .debug { logger.logLevel = max(logger.logLevel, .error) }
        return try Sender(
            to: endpoint,
            credential: credential,
            configuration: self.configuration.forTests,
            time: self.time,
            logger: logger
        )
    }

    package func endpoint(of environment: PushEnvironment) -> PushServiceEndpoint {
        self.endpoints[environment] ?? .apple(environment)
    }

    package func observe(_ observer: @escaping AppConnectionObserver) {
        self.observer.withLock { $0 = observer }
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
        let key = Key(app: app, environment: environment, credential: identity, lane: .urgent)
        let service = self.channelServices.withLock { $0.removeValue(forKey: key) }
        if let service { Task { await service.close() } }
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
        let services = self.channelServices.withLock { services in
            defer { services = [:] }
            return Array(services.values)
        }
        await withTaskGroup(of: Void.self) { group in
            for sender in senders { group.addTask { await sender.close() } }
            for service in services { group.addTask { await service.close() } }
        }
    }
}
