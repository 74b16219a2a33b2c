import PushSupport
import PushTypes
import Synchronization

/// Writes pages and accepted notifications, and caches the ids of shared rows and the counters of charts.
final class PageWriter: Sendable {
    private let reasons = SharedCache<DeliveryReason, Int64>(maximum: 1000)
    private let connections = SharedCache<OpenedConnection, Int64>(maximum: 1000)
    private let statistics = PendingStatistics()
    /// Lets one transaction after the other write counters of charts: one that finds none sees those of the others.
    private let statisticsTurn = CountingSemaphore(count: 1)

    /// Runs `body` in a transaction, with the state that all pages of the transaction share.
    func write<Value: Sendable>(
        to store: any StoreDatabase,
        now: Timestamp,
        _ body: @escaping @Sendable (CommitContext, any SQLConnection) throws -> Value
    ) async throws -> Value {
        let counted = Mutex<[Int64: StatisticCounter.Counts]>([:])
        do {
            let (value, reasons, connections) = try await store.writeLedger { database in
                // An earlier attempt at the transaction has failed.
                self.statistics.remove(counted.withLock { $0 }, now: now)
                counted.withLock { $0 = [:] }
                let parts = CommitContext(reasons: self.reasons.values, connections: self.connections.values)
                let value = try body(parts, database)
                counted.withLock { $0 = parts.statistics.apps }
                self.statistics.add(parts.statistics.apps, now: now)
                return (value, parts.reasons.found, parts.connections.found)
            }
            self.reasons.merge(reasons)
            self.connections.merge(connections)
            return value
        } catch {
            self.statistics.remove(counted.withLock { $0 }, now: now)
            throw error
        }
    }

    func writeStatistics(to store: any StoreDatabase) async throws {
        guard self.statistics.needsWrite else { return }
        try await self.statisticsTurn.run { try await self.writePending(to: store) }
    }

    private func writePending(to store: any StoreDatabase) async throws {
        guard self.statistics.needsWrite else { return }
        let taken = Mutex<PendingStatistics.Numbers>([:])
        do {
            // The counters are taken within the transaction, so that those of the pages before it are among them.
            let reasons = try await store.write { database in
                // An earlier attempt at the transaction has failed.
                self.statistics.restore(taken.withLock { $0 })
                taken.withLock { $0 = [:] }
                let (numbers, reasons) = (self.statistics.take(), ReasonLookup(known: self.reasons.values))
                taken.withLock { $0 = numbers }
                for (minute, apps) in numbers {
                    try StatisticCounter.write(apps, minute: minute, reasons, in: database)
                }
                return reasons.found
            }
            self.statistics.written(taken.withLock { $0 })
            self.reasons.merge(reasons)
        } catch {
            self.statistics.restore(taken.withLock { $0 })
            throw error
        }
    }
}

/// The state that all pages of a transaction share.
final class CommitContext {
    let reasons: ReasonLookup
    let connections: ConnectionLookup
    let statistics = StatisticCounter()
    /// The fencing numbers of the leases whose shards have finished.
    private(set) var fences: Set<Int64> = []
    private(set) var apps: Set<Int64> = []

    fileprivate init(reasons: [DeliveryReason: Int64], connections: [OpenedConnection: Int64]) {
        (self.reasons, self.connections) = (ReasonLookup(known: reasons), ConnectionLookup(known: connections))
    }

    /// Records that a notification of `app` has finished, so that the lease `fence` of its shard can end.
    func ended(_ fence: Int64, of app: Int64) {
        self.fences.insert(fence)
        self.apps.insert(app)
    }
}
