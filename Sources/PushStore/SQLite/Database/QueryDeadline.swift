import Foundation
import GRDB
import GRDBSQLite

/// The deadline of one query on one connection. It interrupts a query that exceeds its time budget, or whose snapshot
/// blocks a truncating checkpoint. It can also pause a long query periodically to yield the processor. SQLite calls it
/// every ``steps`` instructions (`sqlite3_progress_handler`).
///
/// It is created and used on the thread that runs the query.
final class QueryDeadline {
    /// The reason for which a query was interrupted.
    enum Stop: Error {
        case outOfTime, ending
        /// An interruption for a truncating checkpoint. The query starts again afterwards, with a new snapshot.
        case renewal
    }

    /// The limits on the time of a query, or of one step of a query.
    struct Limits: Sendable {
        /// The maximum time of the query, or `nil` for no limit.
        var budget: Duration?
        var clock = QueryClock.wall
        /// The time at which the query is interrupted, because its caller no longer waits, or `nil` for none.
        var end: ContinuousClock.Instant?
        /// A Boolean value that indicates whether the query pauses periodically to yield the processor.
        var rests = false

        /// A Boolean value that indicates whether the limits leave time for another step.
        var allowsMore: Bool { self.budget.map { $0 > .zero } ?? true && self.end.map { .now < $0 } ?? true }
    }

    /// The number of instructions of SQLite's virtual machine between two checks of the deadline: about 50 µs.
    private static let steps: Int32 = 1000
    /// The time for which a query runs between two pauses.
    private static let slice: Duration = .milliseconds(10)
    private static let rest: Duration = .milliseconds(5)

    private let limits: Limits
    private let log: WriteAheadLog
    private let isEnding: () -> Bool
    private let start: Duration
    private var lastRest: Duration
    private var stop: Stop?

    /// Creates a deadline, and starts to measure the query's time.
    /// - Parameters:
    ///   - log: The write-ahead log of the store, whose truncating checkpoints interrupt the query.
    ///   - isEnding: A function that returns whether the store is being closed. It is called at each pause.
    init(_ limits: Limits = Limits(), log: WriteAheadLog, isEnding: @escaping () -> Bool = { false }) {
        (self.limits, self.log, self.isEnding) = (limits, log, isEnding)
        self.start = limits.clock.now
        self.lastRest = self.start
    }

    /// The time that the query has used so far, measured by the clock of its limits.
    var used: Duration { self.limits.clock.now - self.start }

    /// Runs a query under the deadline.
    /// - Throws: ``Stop`` if the deadline interrupts the query, or the error of `body`.
    func run<Value>(_ database: Database, _ body: (any SQLConnection) throws -> Value) throws -> Value {
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
            // SQLite does not keep the deadline alive.
            return try withExtendedLifetime(self) { try body(database) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            throw self.stop ?? error
        }
    }

    /// Returns whether the query may continue, after a pause if one is due.
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

/// The clock that measures the time of a query.
enum QueryClock: Sendable {
    case wall
    /// The processor time of the query's thread. Other threads do not use up a budget that is measured by it.
    case processor

    var now: Duration {
        var time = timespec()
        clock_gettime(self == .wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
