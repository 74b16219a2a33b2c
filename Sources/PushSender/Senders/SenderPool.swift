package import Logging
import NIOPosix
package import PushSupport
package import PushTypes
import ServiceLifecycle
import Synchronization

/// A pool with one sender for each app, environment, credential and lane (``SenderLane``). It is a ``Sender``, or a
/// ``BinaryTransport`` for a credential that uses the binary protocol. A connection belongs to one team (APNs reference
/// 1.11). Apps of one team do not share connections either, because an app whose pushes receive no responses would
/// occupy the streams of the others.
package final class SenderPool: SenderSource, Service {
    private struct Key: Hashable {
        var app: Int64
        var environment: PushEnvironment
        var credential: String
        var lane: SenderLane
    }

    private enum Kept {
        case http2(Sender)
        case binary(BinaryTransport)

        var sender: any NotificationSender {
            switch self {
            case .http2(let sender): sender
            case .binary(let sender): sender
            }
        }

        func close() async {
            switch self {
            case .http2(let sender): await sender.close()
            case .binary(let sender): await sender.close()
            }
        }
    }

    private let endpoints: [PushEnvironment: PushServiceEndpoint]
    private let configuration: SenderConfiguration
    private let ports: [PushEnvironment: PortSelector]
    private let time: any TimeSource
    private let logger: Logger
    private let legacy: [PushEnvironment: LegacyService]
    private let senders = Mutex<[Key: Kept]>([:])
    /// The clients for managing channels. An unused one has no connection.
    private let channelServices = Mutex<[Key: ChannelService]>([:])
    private let observer = Mutex<AppConnectionObserver?>(nil)

    /// Creates a pool without connections.
    /// - Parameters:
    ///   - endpoints: The push service of each environment. For an environment without one, Apple's service is used.
    ///   - legacy: The legacy services, for credentials whose transport is binary.
    /// - Throws: An error of swift-nio-ssl if additional trust roots are not PEM certificates.
    package init(
        endpoints: [PushEnvironment: PushServiceEndpoint] = [:],
        legacy: [PushEnvironment: LegacyService] = [:],
        configuration: SenderConfiguration = SenderConfiguration(),
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) throws {
        // Invalid trust roots fail at the start, not at the first push.
        let all = Array(endpoints.values) + legacy.values.flatMap { [$0.binary, $0.feedback].compactMap(\.self) }
        for endpoint in all { _ = try endpoint.tlsConfiguration() }
        self.ports = try endpoints.compactMapValues { endpoint in
            let group = MultiThreadedEventLoopGroup.singleton
            return try PortSelector(endpoint, proxy: configuration.proxy, group: group, time: time, logger: logger)
        }
        (self.endpoints, self.legacy, self.configuration) = (endpoints, legacy, configuration)
        (self.time, self.logger) = (time, logger)
    }

    /// Returns the app's sender for the lane, which the first call creates.
    /// - Throws: An error if the credential cannot be used.
    package func sender(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment,
        lane: SenderLane
    ) throws -> any NotificationSender {
        let key = Key(app: app, environment: environment, credential: credential.identity, lane: lane)
        return try self.senders.withLock { senders in
            if let kept = senders[key] { return kept.sender }
            if case .certificate(let certificate) = credential, certificate.transport == .binary {
                let sender = try self.binaryTransport(certificate, environment, self.configuration, self.logger)
                senders[key] = .binary(sender)
                return sender
            }
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
            senders[key] = .http2(sender)
            return sender
        }
    }

    /// Creates the sender for a certificate that uses the binary protocol.
    /// - Throws: ``LegacyServiceMissing`` if the environment has no address for it, or ``CredentialError`` if the
    ///   certificate cannot be used.
    private func binaryTransport(
        _ certificate: ClientCertificate,
        _ environment: PushEnvironment,
        _ configuration: SenderConfiguration,
        _ logger: Logger
    ) throws -> BinaryTransport {
        guard let endpoint = self.legacy[environment]?.binary else {
            throw LegacyServiceMissing(environment: environment)
        }
        return try BinaryTransport(to: endpoint, certificate: certificate, configuration: configuration, logger: logger)
    }

    package func channels(
        for credential: PushCredential,
        app: Int64,
        environment: PushEnvironment
    ) throws -> any ChannelServiceClient {
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
        // The caller reports the result. A warning for each probe would be too much.
        var logger = self.logger
        if logger.logLevel > .debug { logger.logLevel = max(logger.logLevel, .error) }
        if case .certificate(let certificate) = credential, certificate.transport == .binary {
            return try self.binaryTransport(certificate, environment, self.configuration.forTests, logger)
        }
        var endpoint = self.endpoint(of: environment)
        endpoint.connectTimeout = min(endpoint.connectTimeout, self.configuration.testTimeout / 2)
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

    package func endpoint(of environment: PushEnvironment, for credential: PushCredential) -> PushServiceEndpoint {
        guard credential.transport == .binary else { return self.endpoint(of: environment) }
        return self.legacy[environment]?.binary ?? self.endpoint(of: environment)
    }

    package func observe(_ observer: @escaping AppConnectionObserver) { self.observer.withLock { $0 = observer } }

    /// Removes the app's senders with the credential. Each one closes its connections once no page of recipients uses
    /// it any more.
    package func retire(_ credential: PushCredential, app: Int64, environment: PushEnvironment) {
        let identity = credential.identity
        // The senders are released after the lock.
        let retired = self.senders.withLock { senders in
            SenderLane.allCases.compactMap { lane in
                senders.removeValue(forKey: Key(app: app, environment: environment, credential: identity, lane: lane))
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
