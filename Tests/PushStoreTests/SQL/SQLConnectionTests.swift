import Foundation
import GRDB
import ProviderModel
import PushTypes
import Testing

@testable import PushStore

/// Statements, their arguments and the values in their columns, on SQLite.
@Suite struct SQLConnectionTests {
    @Test func argumentsAreBoundByPositionByNumberAndByName() throws {
        try self.withTable { connection throws in
            #expect(try connection.value(sql: "SELECT ? || ?", ["a", "b"]) as String? == "ab")
            #expect(try connection.value(sql: "SELECT ?2 || ?1 || ?2", ["a", "b"]) as String? == "bab")
            let sql = "SELECT :second || :first || :second"
            #expect(try connection.value(sql: sql, ["first": "a", "second": "b"]) as String? == "bab")
            #expect(try connection.value(sql: sql, ["second": "b", "first": "a"]) as String? == "bab")
            var arguments: SQLArguments = ["a"]
            arguments += ["b"]
            #expect(try connection.value(sql: "SELECT ? || ?", arguments) as String? == "ab")
            arguments = ["first": "a"]
            arguments += ["second": "b"]
            #expect(try connection.value(sql: sql, arguments) as String? == "bab")
        }
    }

    static let wrongArguments: [(String, SQLArguments)] = [
        ("INSERT INTO thing (name, value) VALUES (?, ?)", []), ("INSERT INTO thing (name, value) VALUES (?, ?)", ["b"]),
        ("INSERT INTO thing (name, value) VALUES (?, ?)", ["b", 2, 3]), ("UPDATE thing SET value = 2", [1]),
        ("UPDATE thing SET value = ?2 WHERE id = ?1", [1]), ("DELETE FROM thing WHERE id = :id", [:]),
        ("DELETE FROM thing WHERE id = :id", ["name": 1]), ("DELETE FROM thing WHERE id = :id", ["ID": 1]),
        ("DELETE FROM thing WHERE id = :id", ["id": 1, "name": "a"]), ("DELETE FROM thing WHERE id = ?", ["id": 1]),
        ("UPDATE thing SET value = :value WHERE id = :id", ["id": 1]),
    ]

    @Test(arguments: wrongArguments)
    func missingAndUnknownArgumentsAreErrorsAndChangeNothing(sql: String, arguments: SQLArguments) throws {
        try self.withTable { connection throws in
            try connection.insert(into: "thing", ["name": "a", "value": 1])
            let before = try self.things(connection)
            #expect(throws: SQLArgumentError.self) { try connection.run(sql: sql, arguments) }
            #expect(throws: SQLArgumentError.self) { try connection.rows(sql: sql, arguments) }
            #expect(try self.things(connection) == before)
        }
    }

    /// A statement is prepared once, and forgets the arguments that it had.
    @Test func noArgumentStaysFromAnEarlierExecution() throws {
        try self.withTable { connection throws in
            let sql = "SELECT coalesce(:first, '-') || coalesce(:second, '-')"
            #expect(try connection.value(sql: sql, ["first": "a", "second": "b"]) as String? == "ab")
            #expect(throws: SQLArgumentError.self) { try connection.row(sql: sql, ["first": "c", "third": "d"]) }
            let statement = try connection.prepare(sql)
            defer { statement.reset() }
            statement.bind("e", at: try #require(statement.position(of: "second")))
            #expect(try statement.step())
            #expect(statement.text(0) == "-e")
            #expect(statement.position(of: "third") == nil)
        }
    }

    static let values: [(SQLValue, String)] = [
        (.null, "null"), (.integer(0), "integer"), (.integer(.min), "integer"), (.integer(.max), "integer"),
        (.real(0.1), "real"), (.real(3), "real"), (.real(-.greatestFiniteMagnitude), "real"),
        (.real(.leastNonzeroMagnitude), "real"), (.real(.infinity), "real"), (.text(""), "text"), (.text("1"), "text"),
        (.text("caf\u{e9} \u{1f426}"), "text"), (.bytes(Data()), "blob"), (.bytes(Data([0])), "blob"),
        (.bytes(Data([0xff, 0, 0x31])), "blob"),
    ]

    @Test(arguments: values) func aValueIsReadAsItWasBound(value: SQLValue, type: String) throws {
        try self.withTable { connection throws in
            #expect(try connection.value(sql: "SELECT ?", [value]) as SQLValue? == value)
            #expect(try connection.value(sql: "SELECT :value", ["value": value]) as SQLValue? == value)
            let id = try connection.insert(into: "thing", ["name": "a", "value": value], returning: "id")
            let sql = "SELECT value, typeof(value) AS type, value IS NULL AS isAbsent FROM thing WHERE id = ?"
            let row = try #require(try connection.row(sql: sql, [id]))
            #expect(row["value"] as SQLValue? == value)
            #expect(row["type"] as String? == type)
            #expect(row["isAbsent"] as Bool? == (value == .null))
            #expect(try connection.hasRow(sql: "SELECT 1 FROM thing WHERE value IS ?", [value]))
            #expect(try connection.values(sql: "SELECT value FROM thing") as [SQLValue] == [value])
        }
    }

    /// Canonically equivalent texts stay different.
    @Test(arguments: ["caf\u{e9}", "cafe\u{301}"]) func aTextKeepsItsBytes(text: String) throws {
        try self.withTable { connection throws in
            let found = try connection.value(sql: "SELECT ?", [text]) as String?
            #expect(found.map { Array($0.utf8) } == Array(text.utf8))
        }
    }

    @Test func anEmptyBlobIsNotNull() throws {
        try self.withTable { connection throws in
            let sql = "SELECT typeof(?)"
            let statement = try connection.prepare(sql)
            defer { statement.reset() }
            func type(_ bind: () -> Void) throws -> String? {
                statement.reset()
                bind()
                return try statement.step() ? statement.text(0) : nil
            }
            #expect(try type { statement.bind([UInt8](), at: 1) } == "blob")
            #expect(try type { statement.bind(Data(), at: 1) } == "blob")
            #expect(try type { statement.bind(Data() as Data?, at: 1) } == "blob")
            #expect(try type { statement.bind(nil as Data?, at: 1) } == "null")
            #expect(try type { statement.bind(nil as Int64?, at: 1) } == "null")
            #expect(try type { statement.bind(nil as String?, at: 1) } == "null")
            let row = try #require(try connection.row(sql: "SELECT x'' AS empty, NULL AS missing"))
            #expect(row["empty"] as Data? == Data())
            #expect(row["empty"] as [UInt8]? == [])
            #expect(row["missing"] as Data? == nil)
            #expect(row["missing"] as [UInt8]? == nil)
        }
    }

    /// A text is bound up to its first NUL. A stored text that has one is read as a whole.
    @Test func aTextEndsAtItsFirstNULWhenItIsBound() throws {
        try self.withTable { connection throws in
            for (text, bytes) in [("a\0b", "61"), ("a\0", "61"), ("\0", ""), ("ab", "6162")] {
                #expect(try connection.value(sql: "SELECT hex(?)", [text]) as String? == bytes)
                #expect(try connection.value(sql: "SELECT hex(:text)", ["text": text]) as String? == bytes)
            }
            let stored = "SELECT CAST(x'610062' AS TEXT)"
            #expect(try connection.value(sql: stored) as String? == "a\0b")
            #expect(try connection.value(sql: stored) as Data? == Data("a\0b".utf8))
        }
    }

    static let others: [SQLValue] = [
        .null, .real(0.5), .real(.nan), .real(1e300), .real(-.infinity), .text(""), .text("1"), .text("x y\0"),
        .bytes(Data()), .bytes(Data([0xff, 0xfe])), .integer(.max), .integer(.min),
    ]

    /// A value of another type, or one out of range, is no value.
    @Test(arguments: others) func aValueOfAnotherTypeIsNil(value: SQLValue) throws {
        let isInteger = if case .integer = value { true } else { false }
        let isNumber = if case .real = value { true } else { isInteger }
        let isText = if case .text = value { true } else { false }
        let isBytes = if case .bytes = value { true } else { false }
        #expect((Int64(value) != nil) == isInteger)
        #expect((Int(value) != nil) == isInteger)
        #expect((Bool(value) != nil) == isInteger)
        #expect((Timestamp(value) != nil) == isInteger)
        #expect((Double(value) != nil) == isNumber)
        #expect((Data(value) != nil) == (isText || isBytes))
        #expect(([UInt8](value) != nil) == (isText || isBytes))
        #expect((String(value) != nil) == (isText || value == .bytes(Data())))
        #expect(UUID(value) == nil)
        #expect(ContentHash(value) == nil)
        #expect((ChannelID(value) != nil) == (value == .text("1")))
        #expect(PushEnvironment(value) == nil)
        #expect(DeviceTokenKind(value) == nil)
        if !isText, !isBytes {
            #expect(Topic(value) == nil)
            #expect(DeviceToken(value) == nil)
        }
    }

    @Test func columnsOfOtherTypesAreNil() throws {
        try self.withTable { connection throws in
            let sql = "SELECT 'x' AS text, 2 AS number, 2.0 AS whole, 0.5 AS real, x'ff' AS bytes, NULL AS missing"
            let row = try #require(try connection.row(sql: sql))
            #expect(row["text"] as Int? == nil)
            #expect(row["text"] as Double? == nil)
            #expect(row["number"] as String? == nil)
            #expect(row["number"] as Data? == nil)
            #expect(row["number"] as Double? == 2)
            #expect(row["whole"] as Int64? == 2)
            #expect(row["real"] as Int64? == nil)
            #expect(row["bytes"] as String? == nil)
            #expect(row["bytes"] as Int? == nil)
            #expect(row["missing"] as String? == nil)
            #expect(row["missing"] as SQLValue? == .null)
            #expect(row["absent"] as SQLValue? == nil)

            let mixed = "SELECT column1 FROM (VALUES (1), ('2'), (NULL), (0.5), (x'03'), (4))"
            #expect(try connection.integers(sql: mixed) == [1, 4])
            #expect(try connection.values(sql: mixed) as [String] == ["2", "\u{3}"])
            #expect(try connection.count(sql: "SELECT 'x'") == 0)
            #expect(try connection.integer(sql: "SELECT 1 WHERE 0") == nil)
            #expect(try connection.value(sql: "SELECT 1 WHERE 0") as SQLValue? == nil)
            #expect(try connection.row(sql: "SELECT 1 WHERE 0") == nil)
        }
    }

    @Test func aRowIsInsertedAndItsIDReturned() throws {
        try self.withTable { connection throws in
            #expect(try connection.insert(into: "thing", ["name": "a", "value": nil], returning: "id") == 1)
            let large = Int64.max
            #expect(try connection.insert(into: "thing", ["id": large, "name": "b"], returning: "id") == large)
            #expect(throws: DatabaseError.self) {
                try connection.insert(into: "thing", ["name": "a", "value": 2], returning: "id")
            }
            #expect(throws: DatabaseError.self) { try connection.insert(into: "thing", ["name": "a"]) }
            try connection.insert(into: "thing", ["name": "a", "value": 2], "ON CONFLICT DO NOTHING")
            let expected: [[SQLValue]] = [[.integer(1), .text("a"), .null], [.integer(large), .text("b"), .null]]
            #expect(try self.things(connection) == expected)
            let conflict = "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
            try connection.insert(into: "thing", ["name": "a", "value": 2], conflict)
            #expect(try connection.value(sql: "SELECT value FROM thing WHERE id = 1") as Int? == 2)
            #expect(throws: DamagedRow.self) {
                try connection.insert(into: "thing", ["id": 7, "name": "c"], returning: "name")
            }
        }
    }

    @Test func onlyTheRowWithTheIDIsUpdated() throws {
        try self.withTable { connection throws in
            for name in ["a", "b"] { try connection.insert(into: "thing", ["name": name, "value": 1]) }
            var columns: ColumnValues = ["value": nil]
            columns += ["name": "c"]
            try connection.update("thing", columns, id: 2)
            try connection.update("thing", ["name": "d"], id: 3)
            let expected: [[SQLValue]] = [
                [.integer(1), .text("a"), .integer(1)], [.integer(2), .text("c"), .null],
            ]
            #expect(try self.things(connection) == expected)
            #expect(throws: DatabaseError.self) { try connection.update("thing", ["name": "a"], id: 2) }
            #expect(try self.things(connection) == expected)
            #expect(try connection.run(sql: "UPDATE thing SET value = ?", ["x"]) == 2)
            #expect(try connection.run(sql: "UPDATE thing SET value = ? WHERE id = ?", 5, 2) == 1)
            #expect(try connection.run(sql: "DELETE FROM thing WHERE id > ?", 5) == 0)
        }
    }

    @Test func aRowReplacesTheOneWithItsKey() throws {
        try self.withTable { connection throws in
            for name in ["a", "b", "c"] { try connection.insert(into: "thing", ["name": name, "value": 1]) }
            try connection.replace(in: "thing", key: ["id": 1], ["name": "e", "value": Data([2])])
            try connection.replace(in: "thing", key: ["name": "b"], ["value": nil])
            try connection.replace(in: "thing", key: ["id": 9], ["name": "d"])
            let expected: [[SQLValue]] = [
                [.integer(1), .text("e"), .bytes(Data([2]))], [.integer(2), .text("b"), .null],
                [.integer(3), .text("c"), .integer(1)], [.integer(9), .text("d"), .null],
            ]
            #expect(try self.things(connection) == expected)
            #expect(throws: DatabaseError.self) {
                try connection.replace(in: "thing", key: ["id": 1], ["name": "c", "value": 1])
            }
            #expect(try self.things(connection) == expected)
        }
    }

    /// A table cannot be dropped while a statement that reads is open.
    @Test func whatIsNotReadToItsEndLeavesNoStatementOpen() throws {
        let sql = "SELECT * FROM thing ORDER BY id"
        let readers: [(any SQLConnection) throws -> Bool] = [
            { try $0.cursor(sql: sql).next() != nil }, { try $0.cursor(sql: sql, isKept: false).next() != nil },
            { try $0.row(sql: sql) != nil }, { try $0.value(sql: sql) as Int? == 1 }, { try $0.hasRow(sql: sql) },
            { try $0.hasRow(sql: "\(sql) LIMIT ?", 2) }, { try $0.rows(sql: sql).count == 2 },
            { try $0.values(sql: sql) as [Int] == [1, 2] },
        ]
        for read in readers {
            try self.withTable { connection throws in
                for name in ["a", "b"] { try connection.insert(into: "thing", ["name": name]) }
                #expect(try read(connection))
                try connection.run(sql: "DROP TABLE thing")
                #expect(try !connection.hasRow(sql: "SELECT 1 FROM sqlite_master WHERE name = 'thing'"))
            }
        }
        try self.withTable { connection throws in
            for name in ["a", "b"] { try connection.insert(into: "thing", ["name": name]) }
            let cursor = try connection.cursor(sql: sql)
            #expect(try cursor.next()?["id"] as Int? == 1)
            #expect(throws: DatabaseError.self) { try connection.run(sql: "DROP TABLE thing") }
            #expect(try cursor.next()?["id"] as Int? == 2)
            #expect(try cursor.next() == nil)
        }
    }

    @Test func tablesAndTheirKeysAreKnown() throws {
        try self.withTable { connection throws in
            try connection.run(sql: "CREATE TABLE pair (a TEXT, b TEXT, c TEXT, PRIMARY KEY (c, a)) WITHOUT ROWID")
            #expect(try connection.hasTable("pair"))
            #expect(try !connection.hasTable("other"))
            #expect(try connection.primaryKeyColumns(of: "pair") == ["c", "a"])
            #expect(try connection.primaryKeyColumns(of: "thing") == ["id"])
        }
    }

    @Test func aTransactionContinuesAfterAFailedAttempt() throws {
        try self.withTable { connection throws in
            try connection.attempt { try connection.insert(into: "thing", ["name": "a"]) }
            #expect(throws: DatabaseError.self) {
                try connection.attempt { try connection.run(sql: "INSERT INTO thing (name) VALUES ('b'), ('a')") }
            }
            try connection.insert(into: "thing", ["name": "c"])
            #expect(try self.things(connection).map { $0[1] } == [.text("a"), .text("c")])
        }
    }

    /// After most errors, a transaction continues with the next statement.
    @Test func aTransactionHasEndedAfterAFailureOfItsOwn() throws {
        try self.withTable { connection throws in
            func error(_ sql: String, _ arguments: SQLArguments = []) throws -> any Error {
                try #require(throws: (any Error).self) { try connection.run(sql: sql, arguments) }
            }
            try connection.insert(into: "thing", ["name": "a"])
            let insertion = "INTO thing (name) VALUES ('a')"
            #expect(try !connection.hasEnded(after: error("INSERT \(insertion)")))
            #expect(try !connection.hasEnded(after: error("INSERT INTO nothing VALUES (1)")))
            #expect(try !connection.hasEnded(after: error("INSERT \(insertion)", [1])))
            #expect(!connection.hasEnded(after: DamagedRow(table: "thing")))
            #expect(!connection.hasEnded(after: DatabaseError(resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY)))
            for code: ResultCode in [
                .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_IOERR_WRITE, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_BUSY,
            ] {
                #expect(connection.hasEnded(after: DatabaseError(resultCode: code)), "\(code)")
            }
            #expect(try connection.count(sql: "SELECT count(*) FROM thing") == 1)
            #expect(try connection.hasEnded(after: error("INSERT OR ROLLBACK \(insertion)")))
            #expect(try connection.count(sql: "SELECT count(*) FROM thing") == 0)
        }
    }

    /// Calls `body` in a transaction with a new table, whose column `value` keeps values as they are.
    private func withTable(_ body: (any SQLConnection) throws -> Void) throws {
        try DatabaseQueue().inDatabase { database in
            try database.execute(
                sql: "CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, value ANY) STRICT"
            )
            try database.beginTransaction()
            defer { try? database.execute(sql: "ROLLBACK") }
            try body(database)
        }
    }

    /// Returns the values in all rows, in the order of their ids.
    private func things(_ connection: any SQLConnection) throws -> [[SQLValue]] {
        try connection.rows(sql: "SELECT id, name, value FROM thing ORDER BY id").map { row in
            try ["id", "name", "value"].map { try #require(row[$0] as SQLValue?) }
        }
    }
}
