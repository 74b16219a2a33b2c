package import Metrics
package import ProviderModel
import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The metrics of the dispatcher.
///
/// `martlet_deliveries` counts final states by app, environment, state and reason. `martlet_delivery_retries` counts
/// attempts that are followed by a retry. `martlet_queue_start` and `martlet_queue_retry` are the delays of first pages
/// and retries by lane.
package final class DispatchMetrics: Sendable {
    private struct Key: Hashable {
        var app: Int64
        var kind: DeliveryTally.Kind
    }

    private struct Delays {
        let start, retry: Timer
    }

    private let factory: any MetricsFactory
    private let counters = Mutex<[Key: Counter]>([:])
    private let urgent, bulk: Delays
    private let urgentPages = Atomic(0)
    private let bulkPages = Atomic(0)

    package init(factory: any MetricsFactory = NOOPMetricsHandler.instance) {
        func delays(_ lane: String) -> Delays {
            func timer(_ name: String) -> Timer {
                Timer(label: name, dimensions: [("lane", lane)], preferredDisplayUnit: .seconds, factory: factory)
            }
            return Delays(start: timer("martlet_queue_start"), retry: timer("martlet_queue_retry"))
        }
        self.factory = factory
        (self.urgent, self.bulk) = (delays("urgent"), delays("bulk"))
    }

    /// Returns the number of pages of a lane whose responses are outstanding.
    package func pagesInFlight(_ lane: NotificationRecord.Lane) -> Int {
        switch lane {
        case .urgent: self.urgentPages.load(ordering: .relaxed)
        case .bulk: self.bulkPages.load(ordering: .relaxed)
        }
    }

    func pageStarted(_ lane: NotificationRecord.Lane) { self.addPages(1, to: lane) }

    func pageEnded(_ lane: NotificationRecord.Lane) { self.addPages(-1, to: lane) }

    private func addPages(_ count: Int, to lane: NotificationRecord.Lane) {
        switch lane {
        case .urgent: self.urgentPages.add(count, ordering: .relaxed)
        case .bulk: self.bulkPages.add(count, ordering: .relaxed)
        }
    }

    /// Records the start of a shard, and measures the time that the notification has waited, if it is the first shard.
    func noteStart(of claim: inout ShardClaim, at clocks: ClockReading) {
        guard let since = claim.waitsSince else { return }
        claim.waitsSince = nil
        guard claim.shard == 0 else { return }
        self.delays(claim.notification.lane).start.record(duration: max(.zero, clocks.wall.since(since)))
    }

    /// Measures the delay between the due time of retries and their start.
    func noteRetry(_ claim: RetryClaim, at clocks: ClockReading) {
        guard let since = claim.dueSince else { return }
        self.delays(claim.notification.lane).retry.record(duration: max(.zero, clocks.steady.since(since)))
    }

    private func delays(_ lane: NotificationRecord.Lane) -> Delays {
        switch lane {
        case .urgent: self.urgent
        case .bulk: self.bulk
        }
    }

    func count(_ tally: DeliveryTally, of notification: PreparedNotification) {
        for (kind, count) in tally.counts { self.counter(kind, notification).increment(by: count) }
    }

    private func counter(_ kind: DeliveryTally.Kind, _ notification: PreparedNotification) -> Counter {
        let app = notification.record.app
        return self.counters.withLock { counters in
            let key = Key(app: app, kind: kind)
            if let counter = counters[key] { return counter }
            var dimensions = [
                ("app", notification.app?.bundleID.name ?? "\(app)"),
                ("environment", kind.environment?.rawValue ?? "unknown"),
            ]
            if let reason = kind.reason.label { dimensions.append(("reason", reason)) }
            var name = "martlet_delivery_retries"
            if kind.result != .retried {
                name = "martlet_deliveries"
                dimensions.append(("state", kind.result.rawValue))
            }
            let counter = Counter(label: name, dimensions: dimensions, factory: self.factory)
            counters[key] = counter
            return counter
        }
    }

    /// Counts pages whose results were refused, because their lease was lost.
    func countFenced(_ pages: Int) {
        Counter(label: "martlet_pages_fenced", dimensions: [], factory: self.factory).increment(by: pages)
    }
}
