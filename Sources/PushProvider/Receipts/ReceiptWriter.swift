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
        /// The receipts of one transaction, with the batch that exceeds them. Default 500.
        package var transaction = 500
        /// The shortest time between the starts of two transactions. Default 50 ms.
        package var interval: Duration = .milliseconds(50)

        package init() {}
    }

    /// The queue is full.
    package struct Busy: Error, Hashable {}

    private struct Waiter {
        var batch: ReceiptBatch
        var continuation: CheckedContinuation<[ReceiptResult], any Error>
    }

    private let store: any ReceiptStore
    /// The wake signal of webhook delivery.
    private let events: WakeSignal
    private let limits: Limits
    private let metrics: ReceiptMetrics
    private let time: any TimeSource
    private var waiters: [Waiter] = []
    /// The number of receipts of ``waiters``.
    private var waiting = 0
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
    }

    /// Writes the receipts of one sender. They are on disk when it returns.
    /// - Parameter app: The name of the app in metrics.
    /// - Returns: The results in the order of the entries.
    /// - Throws: ``Busy``, ``StoreError``. Then none of them was written.
    package func write(_ batch: ReceiptBatch, app: String) async throws -> [ReceiptResult] {
        guard !batch.entries.isEmpty else { return [] }
        guard self.waiting + batch.entries.count <= self.limits.waiting else { throw Busy() }
        self.waiting += batch.entries.count
        let results = try await withCheckedThrowingContinuation { continuation in
            self.waiters.append(Waiter(batch: batch, continuation: continuation))
            guard !self.isWriting else { return }
            self.isWriting = true
            Task { await self.run() }
        }
        self.metrics.count(results, of: batch, app: app)
        return results
    }

    /// The number of receipts that wait.
    package var waitingCount: Int { self.waiting }

    private func run() async {
        while !self.waiters.isEmpty {
            let start = ContinuousClock.now
            await self.writeNext()
            // Others' requests are collected meanwhile.
            try? await Task.sleep(until: start + self.limits.interval, clock: .continuous)
        }
        self.isWriting = false
    }

    /// Writes the first of those that wait, as many as one transaction takes.
    private func writeNext() async {
        var count = 0
        let end = self.waiters.firstIndex { waiter in
            count += waiter.batch.entries.count
            return count >= self.limits.transaction
        }
        let next = Array(self.waiters[...(end ?? self.waiters.endIndex - 1)])
        self.waiters.removeFirst(next.count)
        self.waiting -= next.reduce(0) { $0 + $1.batch.entries.count }
        do {
            let (results, hasEvents) = try await self.store.addReceipts(next.map(\.batch), now: self.time.recorded) {
                Self.events($0)
            }
            if hasEvents { self.events.signal() }
            for (waiter, results) in zip(next, results) { waiter.continuation.resume(returning: results) }
        } catch {
            for waiter in next { waiter.continuation.resume(throwing: error) }
        }
    }

    /// Returns a block of events for webhooks.
    private static func events(_ news: [ReceiptNews]) -> Data {
        var events = WebhookEvents(expected: news.count)
        for one in news { events.append(one) }
        return events.data
    }
}
