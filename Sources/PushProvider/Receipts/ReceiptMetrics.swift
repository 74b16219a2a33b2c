import Metrics
import PushStore
import Synchronization

/// The metric `martlet_receipts`: receipts by app, event, source and result.
final class ReceiptMetrics: Sendable {
    private struct Key: Hashable {
        var app: String
        var event: ReceiptEvent
        var isFromGateway: Bool
        var result: String
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Key: Counter]>([:])

    init(factory: any MetricsFactory) { self.factory = factory }

    func count(_ results: [ReceiptResult], of batch: ReceiptBatch, app: String) {
        let isFromGateway = batch.sender == .gateway
        for (entry, result) in zip(batch.entries, results) {
            let word =
                switch result {
                case .accepted: "accepted"
                case .repeated: "repeated"
                case .refused(let refusal): refusal.rawValue
                }
            let key = Key(app: app, event: entry.receipt.event, isFromGateway: isFromGateway, result: word)
            self.counter(key).increment()
        }
    }

    private func counter(_ key: Key) -> Counter {
        self.counters.withLock { counters in
            if let counter = counters[key] { return counter }
            let source: ReceiptSource = key.isFromGateway ? .gateway : .app
            let counter = Counter(
                label: "martlet_receipts",
                dimensions: [
                    ("app", key.app), ("event", key.event.word), ("source", source.word), ("result", key.result),
                ],
                factory: self.factory
            )
            counters[key] = counter
            return counter
        }
    }
}
