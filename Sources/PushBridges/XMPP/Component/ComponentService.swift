import Logging
import Metrics
import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// Runs a link for each configured component, and applies changes of the configuration.
struct ComponentService: Service {
    private static let interval = Duration.seconds(1)

    private let store: any AppStore & BridgeStore & XMPPNodeStore
    private let publishes: PublishResponder
    private let registrations: RegistrationResponder
    private let metrics: ComponentMetrics
    private let timeout: Duration
    private let addresses: AddressPolicy
    private let resolver: any NameResolver
    private let time: any TimeSource
    private let logger: Logger

    init(_ parts: ProviderComponents) {
        self.store = parts.store
        self.metrics = ComponentMetrics(factory: parts.metrics)
        (self.timeout, self.time, self.logger) = (parts.configuration.limits.peer, parts.time, parts.logger)
        (self.addresses, self.resolver) = (parts.configuration.webhookAddresses, parts.resolver)
        self.publishes = PublishResponder(
            store: parts.store,
            acceptor: parts.acceptor,
            budgets: parts.budgets,
            metrics: self.metrics,
            time: parts.time,
            logger: parts.logger
        )
        self.registrations = RegistrationResponder(
            store: parts.store,
            registrar: parts.registrar,
            budgets: parts.budgets,
            time: parts.time,
            logger: parts.logger
        )
    }

    private struct Running {
        var bridge: ConfiguredComponent
        let stop: OneShotValue<Void>
    }

    /// Runs until graceful shutdown. Before it returns, the links reply to the requests in flight.
    func run() async throws {
        let cleaner = XMPPNodeCleaner(store: self.store, time: self.time, logger: self.logger)
        await withDiscardingTaskGroup { group in
            group.addTask { await cancelWhenGracefulShutdown { await cleaner.run() } }
            var running: [String: Running] = [:]
            var generation: Int?
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                let current = self.store.bridgeGeneration
                if current != generation, let bridges = await self.bridges() {
                    generation = current
                    self.follow(bridges, &running, &group)
                }
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
            }
            for link in running.values { link.stop.resolve(.success(())) }
        }
    }

    /// Returns the configured components, or `nil` if they cannot be read now.
    private func bridges() async -> [ConfiguredComponent]? {
        do {
            var bridges: [ConfiguredComponent] = []
            for record in try await self.store.bridges(kind: .xmpp) {
                guard let app = try await self.store.app(id: record.app) else { continue }
                do throws(RequestError) {
                    bridges.append(try ConfiguredComponent(record, bundleID: app.bundleID))
                } catch {
                    let metadata: Logger.Metadata = ["bridge": "\(record.name)", "error": "\(error.message)"]
                    self.logger.error("XMPP component cannot be used", metadata: metadata)
                }
            }
            return bridges
        } catch {
            self.logger.error("XMPP components cannot be read, trying again", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Stops the links of removed and changed components, and starts links for new and changed ones.
    private func follow(
        _ bridges: [ConfiguredComponent],
        _ running: inout [String: Running],
        _ group: inout DiscardingTaskGroup
    ) {
        let wanted = Dictionary(bridges.map { ($0.name, $0) }) { $1 }
        for (name, link) in running where wanted[name] != link.bridge {
            link.stop.resolve(.success(()))
            running[name] = nil
        }
        for (name, bridge) in wanted where running[name] == nil {
            let stop = OneShotValue<Void>()
            running[name] = Running(bridge: bridge, stop: stop)
            var logger = self.logger
            logger[metadataKey: "bridge"] = "\(name)"
            let connector = ComponentConnector(
                bridge: bridge,
                timeout: self.timeout,
                addresses: self.addresses,
                resolver: self.resolver
            )
            let link = ComponentLink(connector: connector, answer: self.answer, metrics: self.metrics, logger: logger)
            group.addTask { await link.run(until: stop) }
        }
    }

    private func answer(_ request: ComponentRequest, over bridge: ConfiguredComponent) async -> StanzaResponse {
        switch request.kind {
        case .publish(let publish): await self.publishes.answer(publish, from: request.from, over: bridge)
        case .command(let command): await self.registrations.answer(command, from: request.from, over: bridge)
        }
    }
}

/// The metrics of XMPP components.
///
/// `martlet_xmpp_publishes` counts publishes by `answer`, `martlet_xmpp_connections` counts connections by `result`.
struct ComponentMetrics: Sendable {
    enum Answer: String, CaseIterable {
        case accepted, coalesced, failed, forbidden, missing
    }

    enum Connection: String, CaseIterable {
        case established, failed
    }

    private let publishes: [Answer: Counter]
    private let connections: [Connection: Counter]

    init(factory: any MetricsFactory) {
        func counters<Label: RawRepresentable<String> & CaseIterable>(
            _ label: String,
            _ dimension: String,
            _ type: Label.Type
        ) -> [Label: Counter] {
            Dictionary(
                uniqueKeysWithValues: Label.allCases.map { value in
                    (value, Counter(label: label, dimensions: [(dimension, value.rawValue)], factory: factory))
                }
            )
        }
        self.publishes = counters("martlet_xmpp_publishes", "answer", Answer.self)
        self.connections = counters("martlet_xmpp_connections", "result", Connection.self)
    }

    func countPublish(_ answer: Answer) { self.publishes[answer]?.increment() }
    func countConnection(_ connection: Connection) { self.connections[connection]?.increment() }
}
