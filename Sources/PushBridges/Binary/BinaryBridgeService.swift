import Logging
import NIOCore
import NIOSSL
package import ProviderAPI
import ProviderModel
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import PushWire
import ServiceLifecycle

/// The service of the legacy bridge. It accepts notifications of legacy providers over the binary protocol, and reports
/// inactive tokens to legacy providers as a feedback service.
package final class BinaryBridgeService: Service {
    /// The bound ports of the listeners. A port is `nil` if its listener is not configured.
    package struct Ports: Hashable, Sendable {
        package var binary, feedback: Int?
    }

    private let configuration: BinaryBridgeConfiguration
    private let parts: ProviderComponents
    private let directory: BinaryClientDirectory
    private let windows: DeduplicationRegistry
    private let binary: BinaryBridgeListener
    private let feedback: LegacyFeedbackSource
    private let listeners: (binary: LegacyTLSListener, feedback: LegacyTLSListener)
    private let bound = OneShotValue<Ports>()

    /// Creates the service. Throws an error if the TLS files or the authorities of the configuration cannot be used.
    package init(_ configuration: BinaryBridgeConfiguration, _ parts: ProviderComponents) throws {
        (self.configuration, self.parts) = (configuration, parts)
        let (store, time, logger) = (parts.store, parts.time, parts.logger.rateLimited())
        self.directory = BinaryClientDirectory(store: store, trustsTopics: configuration.authority != nil)
        self.windows = DeduplicationRegistry(time: time)
        let rates = parts.runner.connections.rates
        let intake = BinaryIntake(
            store: store,
            acceptor: parts.acceptor,
            directory: self.directory,
            windows: self.windows,
            metrics: BinaryBridgeMetrics(factory: parts.metrics),
            time: time,
            logger: logger
        )
        var limits = BinaryServerStateMachine.Limits()
        limits.isLenient = configuration.isLenient
        limits.allowsAnyPriority = true
        self.binary = BinaryBridgeListener(
            directory: self.directory,
            intake: intake,
            places: parts.budgets[.bridgeConnections],
            rates: rates,
            limits: limits,
            time: time,
            logger: logger
        )
        self.feedback = LegacyFeedbackSource(directory: self.directory, store: store, time: time, logger: logger)
        let unauthenticated = UnauthenticatedConnectionBudget(logger: logger)
        let authority = try configuration.authority.map { try NIOSSLCertificate.fromPEMBytes(Array($0.utf8)) }
        var tls = LegacyTLS.configuration(
            server: try configuration.tls.configuration().tls,
            providerAuthority: authority ?? [],
            allowsOldTLS: configuration.allowsOldTLS
        )
        let feedback = try LegacyTLSListener(
            name: "feedback",
            configuration,
            tls: tls,
            allowsHalfClosure: false,
            rates: rates,
            unauthenticated: unauthenticated,
            logger: logger
        )
        // The timeout is short, because ``BinaryServerStateMachine/Limits/drain`` has already let the client read the
        // packet.
        tls.shutdownTimeout = .milliseconds(100)
        let binary = try LegacyTLSListener(
            name: "binary",
            configuration,
            tls: tls,
            allowsHalfClosure: true,
            rates: rates,
            unauthenticated: unauthenticated,
            logger: logger
        )
        self.listeners = (binary, feedback)
    }

    /// Returns the ports once the listeners are bound. If ``run()`` fails before that, its error is thrown.
    package func ports() async throws -> Ports { try await self.bound.value }

    /// Stores the configured legacy providers, and runs the listeners until graceful shutdown.
    package func run() async throws {
        do {
            for client in self.configuration.clients { try await self.set(client) }
            try await self.expectRepeats()
            let ports = try await self.bind()
            self.bound.resolve(.success(ports))
            self.report(ports)
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
        try? await gracefulShutdown()
        await self.listeners.binary.close()
        // Connections that broke before are not closed again, but their notifications are still being stored.
        await self.binary.intake.ending.waitForAll(atMost: self.binary.limits.shutdown)
        await self.listeners.feedback.close()
    }

    private func bind() async throws -> Ports {
        let (binary, feedback) = (self.binary, self.feedback)
        var ports = Ports()
        if let port = self.configuration.binaryPort {
            ports.binary = try await self.listeners.binary.bind(port: port) { try binary.initialize($0) }
        }
        if let port = self.configuration.feedbackPort {
            ports.feedback = try await self.listeners.feedback.bind(port: port) { channel in
                let pipeline = channel.pipeline.syncOperations
                let closeHandler = FeedbackCloseHandler()
                let tls = try pipeline.handler(type: NIOSSLServerHandler.self)
                try pipeline.addHandler(closeHandler, position: .before(tls))
                try pipeline.addHandler(FeedbackServerHandler(listener: feedback, closeHandler: closeHandler))
            }
        }
        return ports
    }

    private func report(_ ports: Ports) {
        let host = self.configuration.host
        var metadata: Logger.Metadata = [:]
        if let port = ports.binary { metadata["binary"] = "\(host):\(port)" }
        if let port = ports.feedback { metadata["feedback"] = "\(host):\(port)" }
        self.parts.logger.info("legacy bridge is open", metadata: metadata)
    }

    /// Stores the app, the credentials and the bridge of a legacy provider from the configuration.
    private func set(_ client: BinaryBridgeConfiguration.Client) async throws {
        let (store, now) = (self.parts.store, self.parts.time.now)
        // The topic belongs to an app whose bundle id is the whole topic, if there is one.
        let bundleID = try await store.app(bundleID: client.topic)?.bundleID ?? client.topic.bundleID
        let (app, _) = try await store.addApp(bundleID: bundleID, AppChanges(), now: now)
        for (environment, credential) in client.credentials {
            guard try await store.credential(app: app.id, environment: environment) != credential else { continue }
            try await store.setCredential(credential, app: app.id, environment: environment)
        }
        let bridge = BridgeRecord(
            kind: .binary,
            name: client.topic.name,
            app: app.id,
            environment: client.environment,
            settings: .object(["certificates": .array(client.fingerprints.map(JSONValue.string))]),
            changedAt: now
        )
        guard case .done(_, let displaced) = try await store.setBridge(bridge, keepsSecret: true) else {
            self.parts.logger.error(
                "the bridge of an old provider is not set: its topic is another app's, or its app has too many",
                metadata: ["bridge": "\(bridge.name)", "app": "\(app.bundleID)"]
            )
            return
        }
        if let displaced { self.parts.logger.warnOfReplacement(by: bridge, of: displaced) }
    }

    /// Remembers the pushes that were stored in the last minute. After a crash, legacy providers send them again.
    private func expectRepeats() async throws {
        let limits = DeduplicationWindow.Limits()
        let since = self.parts.time.now.advanced(by: .zero - limits.time)
        for (bridge, settings) in try await self.directory.all() where settings.dropsRepeats {
            let pushes = try await self.parts.store.legacyPushes(
                over: bridge.name,
                app: bridge.app,
                since: since,
                limit: limits.count
            )
            self.windows.expect(pushes.map(DeduplicationWindow.Key.init), over: bridge.name, of: bridge.app)
        }
    }
}
