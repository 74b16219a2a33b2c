import GRDB
import Synchronization
import Testing

@testable import PushStore

/// A value that the tasks of a test share.
final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        self.value.withLock { body(&$0) }
    }
}

extension SQLConnection {
    /// Runs statements of SQLite. There may be several, and they may return rows.
    func execute(sql: String, arguments: StatementArguments = StatementArguments()) throws {
        try #require(self as? Database).execute(sql: sql, arguments: arguments)
    }

    /// Calls `record` with the SQL of each statement that the connection begins from now on.
    func traceStatements(_ record: @escaping @Sendable (String) -> Void) throws {
        try #require(self as? Database).trace(options: .statement) { event in
            if case .statement(let statement) = event { record(statement.sql) }
        }
    }

    /// Returns SQLite's plan of a statement. Without arguments, all parameters are NULL.
    func plan(of sql: String, _ arguments: SQLArguments? = nil) throws -> [String] {
        let statement = try self.prepare("EXPLAIN QUERY PLAN \(sql)", isKept: false)
        defer { statement.reset() }
        if let arguments { try statement.bind(arguments) }
        var steps: [String] = []
        while try statement.step() { steps.append(statement.text(3) ?? "") }
        return steps
    }
}

extension SQLStore {
    /// The connections to the file of a store in SQLite.
    var sqliteFile: SQLiteDatabase { get throws { try #require(self.sqlite) } }

    /// Skips numbers that the database assigns to the rows of a table.
    func skipNumbers(of table: String, _ count: Int64) async throws {
        let next =
            self.sqlite == nil
            ? "SELECT setval('\(table)_number_seq', last_value + :count) FROM \(table)_number_seq"
            : "UPDATE sqlite_sequence SET seq = seq + :count WHERE name = '\(table)'"
        try await self.database.run(sql: next, ["count": count])
    }
}
