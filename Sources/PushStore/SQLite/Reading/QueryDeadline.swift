import Foundation
import GRDB
import GRDBSQLite

/// The deadline of one query on one connection. It interrupts a query that takes longer than its budget, or whose snapshot
/// is in the way of a fold of the log, and lets a long one rest now and then, so that others get the processor. SQLite calls
/// it while it works (`sqlite3_progress_handler`).
final class QueryDeadline {
    /// The reason for which a query was interrupted.
    enum Stop: Error {
        case outOfTime, ending
        /// The log is being folded: the query begins anew, with a new snapshot, once it has been.
        case renewal
    }

    /// The instructions of SQLite's virtual machine between two readings of the clock: about 50 µs.
    private static let steps: Int32 = 1000
    /// The working time between two rests.
    private static let slice: Duration = .milliseconds(10)
    /// The length of a rest.
    private static let rest: Duration = .milliseconds(5)

    private let deadline: ContinuousClock.Instant?
    private let log: WriteAheadLog
    private let rests: Bool
    private let isEnding: () -> Bool
    private var lastRest: ContinuousClock.Instant
    private var stop: Stop?

    /// - Parameters:
    ///   - deadline: The end of the query's time; `nil` for none.
    ///   - log: The log of the store.
    ///   - rests: Whether the query rests now and then.
    ///   - isEnding: Tells whether the store is being closed; called at each rest.
    init(
        _ deadline: ContinuousClock.Instant?,
        log: WriteAheadLog,
        rests: Bool = false,
        isEnding: @escaping () -> Bool = { false }
    ) {
        self.lastRest = .now
        (self.deadline, self.log, self.rests, self.isEnding) = (deadline, log, rests, isEnding)
    }

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
        let now = ContinuousClock.now
        if let deadline, now >= deadline {
            self.stop = .outOfTime
        } else if self.log.isFolding {
            self.stop = .renewal
        } else if self.rests, now - self.lastRest >= Self.slice {
            if self.isEnding() { self.stop = .ending }
            Thread.sleep(forTimeInterval: Self.rest / .seconds(1))
            self.lastRest = .now
        }
        return self.stop == nil
    }
}
