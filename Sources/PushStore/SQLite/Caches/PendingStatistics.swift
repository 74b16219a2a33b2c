import PushTypes
import Synchronization

/// The numbers of pages that no transaction has written yet.
///
/// They are written once a second and before they are read (``SQLiteStore/writeStatistics()``), because a row of charts
/// would cost a single push as much as its delivery. A process that is killed loses the second of the charts, and nothing
/// of the ledger.
final class PendingStatistics: Sendable {
    /// The numbers by minute and app.
    typealias Numbers = [Int64: [Int64: StatisticCounter.Counts]]

    private struct State {
        var numbers: Numbers = [:]
        /// The number of transactions that have taken numbers and may not have ended.
        var underWay = 0
    }

    private let state = Mutex(State())

    /// Indicates whether numbers may be missing on disk. They are there after the next write.
    var needsWrite: Bool { self.state.withLock { $0.underWay > 0 || !$0.numbers.isEmpty } }

    /// Adds the numbers of a transaction that is about to end: whoever sees its changes can have its numbers written.
    func add(_ apps: [Int64: StatisticCounter.Counts], now: Timestamp) {
        guard !apps.isEmpty else { return }
        self.add([StatisticStep.minute.start(of: now).seconds: apps])
    }

    /// Takes back the numbers of a transaction that failed. Where they were written meanwhile, they are subtracted.
    func remove(_ apps: [Int64: StatisticCounter.Counts], now: Timestamp) {
        self.add(apps.mapValues(\.negated), now: now)
    }

    /// Returns all numbers, within the transaction that writes them. It calls ``written(_:)`` or ``restore(_:)`` at its end.
    func take() -> Numbers {
        self.state.withLock { state in
            if !state.numbers.isEmpty { state.underWay += 1 }
            defer { state.numbers = [:] }
            return state.numbers
        }
    }

    /// Notes that numbers are on disk.
    func written(_ numbers: Numbers) {
        guard !numbers.isEmpty else { return }
        self.state.withLock { $0.underWay -= 1 }
    }

    /// Gives back numbers that could not be written.
    func restore(_ numbers: Numbers) {
        self.add(numbers)
        self.written(numbers)
    }

    private func add(_ other: Numbers) {
        self.state.withLock { state in
            for (minute, apps) in other {
                state.numbers[minute, default: [:]].merge(apps) { earlier, later in
                    var sum = earlier
                    sum.add(later)
                    return sum
                }
            }
        }
    }
}
