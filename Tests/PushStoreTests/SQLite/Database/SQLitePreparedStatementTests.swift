import GRDB
import Testing

@testable import PushStore

/// Statements without GRDB's boxes around values.
@Suite struct SQLitePreparedStatementTests {
    /// No API takes a text with a NUL. If one comes this far, it is the same text in every statement.
    @Test(arguments: ["", "alice", "alice\0", "alice\0x", "\0", "\0x", "caf\u{e9}\0"])
    func aTextIsTheSameHoweverItIsBound(text: String) throws {
        try DatabaseQueue().write { database in
            let expected = try database.value(sql: "SELECT hex(?)", [text]) as String?
            let statement = try database.prepare("SELECT hex(?)")
            defer { statement.reset() }
            for isBoxed in [false, true] {
                statement.reset()
                if isBoxed { statement.bind(text.sqlValue, at: 1) } else { statement.bind(text, at: 1) }
                #expect(try statement.step())
                #expect(statement.text(0) == expected)
            }
        }
    }

    private enum Column: Int, CodingKey, CaseIterable { case id, name, note }

    /// A column that is not bound is NULL.
    @Test func aRowIsAddedByTheNamesOfItsColumns() throws {
        try DatabaseQueue().write { database in
            try database.execute(sql: "CREATE TABLE thing (note TEXT, name TEXT, id INTEGER PRIMARY KEY)")
            let sql = Column.insertion(into: "thing", if: "\(Column.id.place) > 0", "ON CONFLICT DO NOTHING")
            for (id, name) in [(Int64(1), "first"), (1, "again"), (0, "none")] {
                let row = try RowInsertion<Column>(sql, in: database)
                row.bind(name, to: .name)
                row.bind(id, to: .id)
                try row.run()
            }
            #expect(try database.values(sql: "SELECT name FROM thing WHERE note IS NULL") as [String] == ["first"])
        }
    }
}
