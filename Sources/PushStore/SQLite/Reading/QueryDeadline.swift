import Foundation
import GRDB
import GRDBSQLite

/// Ends a query that takes longer than it may, and lets a long one rest now and then, so that others get at the processor.
/// For one query on one connection: SQLite calls it while it works.
final class QueryDeadline {
    enum Stop: Error {
        case outOfTime
        case ending
    }

    /// Steps of SQLite's machine between two looks at the clock: some 50 µs.
    private static let steps: Int32 = 1000
    /// Work between two rests, and how long a rest is.
    private static let slice: Duration = .milliseconds(10)
    private static let rest: Duration = .milliseconds(5)

    private let deadline: ContinuousClock.Instant
    private let rests: Bool
    private let isEnding: () -> Bool
    private var lastRest: ContinuousClock.Instant
    private var stop: Stop?

    /// - Parameters:
    ///   - budget: for the whole query.
    ///   - rests: whether it gives way to others.
    ///   - isEnding: asked now and then: whether no query may go on.
    init(budget: Duration, rests: Bool, isEnding: @escaping () -> Bool) {
        self.lastRest = .now
        self.deadline = self.lastRest + budget
        self.rests = rests
        self.isEnding = isEnding
    }

    /// - Throws: ``Stop``, or what `body` throws.
    func run<Value>(_ database: Database, _ body: (Database) throws -> Value) throws -> Value {
        sqlite3_progress_handler(
            database.sqliteConnection,
            Self.steps,
            { watch in
                guard let watch else { return 0 }
                return Unmanaged<QueryDeadline>.fromOpaque(watch).takeUnretainedValue().mayGoOn() ? 0 : 1
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

    private func mayGoOn() -> Bool {
        let now = ContinuousClock.now
        if now >= self.deadline {
            self.stop = .outOfTime
        } else if self.rests, now - self.lastRest >= Self.slice {
            if self.isEnding() { self.stop = .ending }
            Thread.sleep(forTimeInterval: Self.rest / .seconds(1))
            self.lastRest = .now
        }
        return self.stop == nil
    }
}
