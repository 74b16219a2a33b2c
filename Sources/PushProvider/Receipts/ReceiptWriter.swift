import Foundation
package import Metrics
package import PushStore
package import PushSupport
import PushTypes

/// Writes receipts in shared transactions.
///
/// A receipt is written as soon as the one before is on disk, but no sooner than ``Limits/interval`` after its start:
/// requests that arrive meanwhile share a transaction, so that campaigns get the writer in between. A caller returns once
/// its receipts are on disk, and has an error if they are not.
package actor ReceiptWriter {
    /// The bounds of what waits and of one transaction.
    package struct Limits: Hashable, Sendable {
        /// The receipts that wait at most. Default 20,000.
        package var waiting = 20_000
        /// The receipts of one app that wait at most. Default 5,000, seconds of 100,000 a minute.
        package var waitingOfApp = 5000
        /// The receipts of one transaction, with the batch that exceeds them. Default 500.
        package var transaction = 500
        /// The shortest time between the starts of two transactions. Default 50 ms.
        package var interval: Duration = .milliseconds(50)

        package init() {}

        /// Returns the time until the next transaction may start.
        /// - Parameters:
        ///   - start: The start of the last one, by the steady clock.
        ///   - now: The time by the steady clock.
        func delay(after start: Timestamp, now: Timestamp) -> Duration {
            max(.zero, self.interval - now.since(start))
        }
    }

    /// The queue, or the app's part of it, is full.
    package struct Busy: Error, Hashable {}

    private let store: any ReceiptStore
    /// The wake signal of webhook delivery.
    private let events: WakeSignal
    private let limits: Limits
    private let metrics: ReceiptMetrics
    private let time: any TimeSource
    private var queue: ReceiptQueue<CheckedContinuation<[ReceiptResult], any Error>>
    private var isWriting = false

    package init(
        store: any ReceiptStore,
        events: WakeSignal,
        limits: Limits = Limits(),
        metrics: any MetricsFactory = NOOPMetricsHandler.instance,
        time: any TimeSource
    ) {
        (self.store, self.events, self.limits, self.time) = (store, events, limits, time)
        self.metrics = ReceiptMetrics(factory: metrics)
        self.queue = ReceiptQueue(limits: limits)
    }

    /// Writes the receipts of one sender. They are on disk when it returns.
    /// - Parameter app: The name of the app, which waits for its turn among the apps.
    /// - Returns: The results in the order of the entries.
    /// - Throws: ``Busy``, ``StoreError``. Then none of them was written.
    package func write(_ batch: ReceiptBatch, app: String) async throws -> [ReceiptResult] {
        guard !batch.entries.isEmpty else { return [] }
        let results = try await withCheckedThrowingContinuation { continuation in
            guard self.queue.add(batch, of: app, ticket: continuation) else {
                return continuation.resume(throwing: Busy())
            }
            guard !self.isWriting else { return }
            self.isWriting = true
            Task { await self.run() }
        }
        self.metrics.count(results, of: batch, app: app)
        return results
    }

    /// The number of receipts that wait.
    package var waitingCount: Int { self.queue.count }

    private func run() async {
        while !self.queue.isEmpty {
            let start = self.time.steady
            await self.writeNext()
            // Others' requests are collected meanwhile.
            let delay = self.limits.delay(after: start, now: self.time.steady)
            if delay > .zero { try? await Task.sleep(for: delay) }
        }
        self.isWriting = false
    }

    /// Writes the next of those that wait, as many as one transaction takes.
    private func writeNext() async {
        let next = self.queue.takeNext()
        do {
            let (results, hasEvents) = try await self.store.addReceipts(next.map(\.batch), now: self.time.recorded) {
                Self.events($0)
            }
            if hasEvents { self.events.signal() }
            for (element, results) in zip(next, results) { element.ticket.resume(returning: results) }
        } catch {
            for element in next { element.ticket.resume(throwing: error) }
        }
    }

    /// Returns a block of events for webhooks.
    private static func events(_ news: [NewReceipt]) -> Data {
        var events = WebhookEvents(expected: news.count)
        for one in news { events.append(one) }
        return events.data
    }
}
