import Metrics
import PushWire
import Synchronization

/// The metric `martlet_binary_bridge_notifications`: notifications of old providers by bridge and result.
final class BinaryBridgeMetrics: Sendable {
    private struct Key: Hashable {
        var bridge, result: String
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Key: Counter]>([:])

    init(factory: any MetricsFactory) { self.factory = factory }

    func countAccepted(over bridge: String) { self.count("accepted", bridge) }
    func countRepeat(over bridge: String) { self.count("repeated", bridge) }
    func countRejection(_ status: BinaryStatus, over bridge: String) { self.count(status.text, bridge) }

    private func count(_ result: String, _ bridge: String) {
        let key = Key(bridge: bridge, result: result)
        let counter = self.counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let counter = Counter(
                label: "martlet_binary_bridge_notifications",
                dimensions: [("bridge", bridge), ("result", result)],
                factory: self.factory
            )
            counters[key] = counter
            return counter
        }
        counter.increment()
    }
}
