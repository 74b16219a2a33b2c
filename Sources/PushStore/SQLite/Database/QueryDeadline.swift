import Foundation
import GRDB
import GRDBSQLite

/// The deadline of one query on one connection. It interrupts a query that takes longer than its budget, or whose snapshot
/// is in the way of a fold of the log, and lets a long one rest now and then, so that others get the processor. SQLite calls
/// it while it works (`sqlite3_progress_handler`).
///
/// It is made, and used, on the thread that runs the query.
final class QueryDeadline {
    /// The reason for which a query was interrupted.
    enum Stop: Error {
        case outOfTime, ending
        /// The log is being folded: the query begins anew, with a new snapshot, once it has been.
        case renewal
    }

    /// The limits of one query, or of one step of it.
    struct Limits: Sendable {
        /// The longest time of it; `nil` for none.
        var budget: Duration?
        var clock = QueryClock.wall
        /// The time at which nobody wants the result any more; `nil` for none.
        var end: ContinuousClock.Instant?
        /// Indicates whether it rests now and then.
        var rests = false

        /// Indicates whether a further step may begin.
        var allowsMore: Bool { self.budget.map { $0 > .zero } ?? true && self.end.map { .now < $0 } ?? true }
    }

    /// The instructions of SQLite's virtual machine between two readings of the clock: about 50 µs.
    private static let steps: Int32 = 1000
    /// The working time between two rests.
    private static let slice: Duration = .milliseconds(10)
    /// The length of a rest.
    private static let rest: Duration = .milliseconds(5)

    private let limits: Limits
    private let log: WriteAheadLog
    private let isEnding: () -> Bool
    private let start: Duration
    private var lastRest: Duration
    private var stop: Stop?

    /// - Parameters:
    ///   - log: The log of the store.
    ///   - isEnding: Tells whether the store is being closed; called at each rest.
    init(_ limits: Limits = Limits(), log: WriteAheadLog, isEnding: @escaping () -> Bool = { false }) {
        (self.limits, self.log, self.isEnding) = (limits, log, isEnding)
        self.start = limits.clock.now
        self.lastRest = self.start
    }

    /// The time that the query has taken so far, by the clock of its limits.
    var used: Duration { self.limits.clock.now - self.start }

    /// Runs a query under the deadline.
    /// - Throws: ``Stop``, or the error of `body`.
    func run<Value>(_ database: Database, _ body: (Database) throws -> Value) throws -> Value {
        sqlite3_progress_handler(
            database.sqliteConnection,
            Self.steps,
            { watch in
                guard let watch else { return 0 }
                return Unmanaged<QueryDeadline>.fromOpaque(watch).takeUnretainedValue().mayContinue() ? 0 : 1
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        defer { sqlite3_progress_handler(database.sqliteConnection, 0, nil, nil) }
        do {
            return try body(database)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw self.stop ?? error
        }
    }

    /// Returns `true` if the query may continue, after a rest if one is due.
    private func mayContinue() -> Bool {
        let now = self.limits.clock.now
        if let budget = self.limits.budget, now - self.start >= budget {
            self.stop = .outOfTime
        } else if let end = self.limits.end, ContinuousClock.now >= end {
            self.stop = .outOfTime
        } else if self.log.isFolding {
            self.stop = .renewal
        } else if self.limits.rests, now - self.lastRest >= Self.slice {
            if self.isEnding() { self.stop = .ending }
            Thread.sleep(forTimeInterval: Self.rest / .seconds(1))
            self.lastRest = self.limits.clock.now
        }
        return self.stop == nil
    }
}

/// A clock by which the time of a query is measured.
enum QueryClock: Sendable {
    /// The time that passes.
    case wall
    /// The time for which the query has a processor: what others use meanwhile is not its own.
    case processor

    /// The reading of the clock on the current thread.
    var now: Duration {
        var time = timespec()
        clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
