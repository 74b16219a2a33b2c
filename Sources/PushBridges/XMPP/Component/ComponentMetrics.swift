import Metrics

/// The metrics of XMPP components.
///
/// `martlet_xmpp_publishes` counts publishes by `answer`, `martlet_xmpp_connections` connections to servers by `result`.
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
