import Foundation
package import Metrics
package import ProviderModel
package import PushStore
package import PushSupport
import PushTypes
import Synchronization

/// Writes receipts in shared transactions.
///
/// A transaction begins when the previous one has ended, and at least ``Limits/interval`` after the previous one began.
/// Receipts that arrive meanwhile share it, so that campaigns can write in between. A caller waits until its receipts
/// are on disk.
package actor ReceiptWriter {
    /// The limits on transactions. The budget ``BudgetedResource/receipts`` limits the number of receipts that wait.
    package struct Limits: Hashable, Sendable {
        /// The number of receipts at which a transaction takes no further batch. Default 500.
        package var transaction = 500
        /// The minimum time between the starts of two transactions. Default 50 ms.
        package var interval: Duration = .milliseconds(50)

        package init() {}

        /// Returns the time until the next transaction may start.
        /// - Parameters:
        ///   - start: The start of the last transaction, by the steady clock.
        ///   - now: The time by the steady clock.
        func delay(after start: Timestamp, now: Timestamp) -> Duration { max(.zero, self.interval - now.since(start)) }
    }

    /// A request that waits, and the budget permit for its receipts, which is released when they are written.
    private struct Waiter {
        let continuation: CheckedContinuation<[ReceiptResult], any Error>
        let place: BudgetPermit
    }

    private let store: any ReceiptStore
    private let events: WakeSignal
    private let limits: Limits
    private let metrics: ReceiptMetrics
    private let time: any TimeSource
    private let places: Budget
    private var queue: ReceiptQueue<Waiter>
    private var isWriting = false

    package init(
        store: any ReceiptStore,
        events: WakeSignal,
        limits: Limits = Limits(),
        places: Budget,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance,
        time: any TimeSource
    ) {
        (self.store, self.events, self.limits, self.time) = (store, events, limits, time)
        self.metrics = ReceiptMetrics(factory: metrics)
        self.places = places
        self.queue = ReceiptQueue(transaction: limits.transaction)
    }

    /// Writes the receipts of one sender, and returns when they are on disk.
    /// - Parameter app: The name of the app. Apps with waiting receipts take turns.
    /// - Returns: The results in the order of the entries.
    /// - Throws: ``BudgetRefusal`` if too many receipts wait, or ``StoreError``. In both cases none of the receipts was
    ///   written.
    package func write(_ batch: ReceiptBatch, app: String) async throws -> [ReceiptResult] {
        guard !batch.entries.isEmpty else { return [] }
        let place = try self.places.take(batch.entries.count, for: BudgetCaller(app: Topic(app)))
        let results = try await withCheckedThrowingContinuation { continuation in
            self.queue.add(batch, of: app, ticket: Waiter(continuation: continuation, place: place))
            guard !self.isWriting else { return }
            self.isWriting = true
            Task { await self.run() }
        }
        self.metrics.count(results, of: batch, app: app)
        return results
    }

    private func run() async {
        while !self.queue.isEmpty {
            let start = self.time.steady
            await self.writeNext()
            // Other requests are collected meanwhile.
            let delay = self.limits.delay(after: start, now: self.time.steady)
            if delay > .zero { try? await Task.sleep(for: delay) }
        }
        self.isWriting = false
    }

    private func writeNext() async {
        let next = self.queue.takeNext()
        // The requests no longer count as waiting.
        for element in next { element.ticket.place.end() }
        do {
            let (results, hasEvents) = try await self.store.addReceipts(next.map(\.batch), now: self.time.recorded) {
                Self.events($0)
            }
            if hasEvents { self.events.signal() }
            for (element, results) in zip(next, results) { element.ticket.continuation.resume(returning: results) }
        } catch {
            for element in next { element.ticket.continuation.resume(throwing: error) }
        }
    }

    private static func events(_ news: [NewReceipt]) -> Data {
        var events = WebhookEventEncoder(expected: news.count)
        for one in news { events.append(one) }
        return events.data
    }
}

/// The batches of receipts that wait to be written. Apps take turns, and the batches of an app keep their order.
///
/// So no app waits for all receipts of another app. The queue has no limit: a budget limits the waiting receipts.
struct ReceiptQueue<Ticket> {
    struct Element {
        var batch: ReceiptBatch
        var ticket: Ticket
    }

    private let transaction: Int
    private var elements = FairQueue<String, Element>()

    init(transaction: Int) { self.transaction = transaction }

    var isEmpty: Bool { self.elements.isEmpty }

    mutating func add(_ batch: ReceiptBatch, of app: String, ticket: Ticket) {
        self.elements.append(Element(batch: batch, ticket: ticket), of: app)
    }

    /// Removes and returns the next transaction's batches: one of each app in turn, until there are enough receipts.
    mutating func takeNext() -> [Element] {
        var (next, receipts) = ([Element](), 0)
        while receipts < self.transaction, let element = self.elements.popFirst() {
            receipts += element.batch.entries.count
            next.append(element)
        }
        return next
    }
}

/// Counts receipts in the metric `martlet_receipts`, by app, event, source and result.
private final class ReceiptMetrics: Sendable {
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
