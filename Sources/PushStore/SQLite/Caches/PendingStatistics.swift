import PushTypes
import Synchronization

/// The numbers of committed pages that no transaction has written yet.
///
/// They are written once a second and before they are read (``SQLiteStore/writeStatistics()``), because a row of charts
/// would cost a single push as much as its delivery. A process that is killed loses the second of the charts, and nothing
/// of the ledger.
final class PendingStatistics: Sendable {
    /// The numbers by minute and app.
    typealias Numbers = [Int64: [Int64: StatisticCounter.Counts]]

    private let numbers = Mutex<Numbers>([:])

    /// Adds the numbers of a transaction that is on disk.
    func add(_ apps: [Int64: StatisticCounter.Counts], now: Timestamp) {
        guard !apps.isEmpty else { return }
        let minute = StatisticStep.minute.start(of: now).seconds
        self.add([minute: apps])
    }

    /// Adds numbers that could not be written.
    func add(_ other: Numbers) {
        self.numbers.withLock { numbers in
            for (minute, apps) in other {
                numbers[minute, default: [:]].merge(apps) { earlier, later in
                    var sum = earlier
                    sum.add(later)
                    return sum
                }
            }
        }
    }

    /// Returns all numbers, and forgets them.
    func take() -> Numbers {
        self.numbers.withLock { numbers in
            defer { numbers = [:] }
            return numbers
        }
    }
}
