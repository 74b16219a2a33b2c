#if PostgreSQL
import Foundation
import GRDB
import PushTesting
import Testing

@testable import PushStore

/// The copying of a store between engines, with rows in all tables.
@Suite(PostgreSQLServer.isInstalled, .timeLimit(.patience)) struct StoreTransferTests {
    private struct Interruption: Error {}

    // The stores.

    /// Makes a store in SQLite with rows of ordinary values, of NULL, of empty values and of unusual ones.
    private func makeStore(_ path: String) async throws {
        try await SQLStore(path: path, masterKey: try .fixture(7)).close()
        try self.change(path) { database in
            try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
            for table in StoredTable.all.map(\.name) {
                if ["masterKeyMark", "lastApp", "registrationClock"].contains(table) { continue }
                let count = ["clock", "addressKey"].contains(table) ? 1 : 4
                for row in 0..<count { try Self.add(row, to: table, database) }
            }
            // A number that was assigned is never assigned again.
            try database.execute(sql: "DELETE FROM tokenEvent WHERE id = 3; UPDATE lastApp SET id = 9")
        }
    }

    private static func add(_ row: Int, to table: String, _ database: Database) throws {
        let columns = try database.columns(in: table)
        let names = columns.map(\.name).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let values = columns.map { column -> SQLValue in
            // A session is that of a person or of a key.
            if table == "session", column.name == (row % 2 == 0 ? "apiKey" : "person") { return .null }
            let isOptional = !column.isNotNull && column.primaryKeyIndex == 0 && table != "session"
            return row == 1 && isOptional ? .null : Self.value(row, column.type)
        }
        // Triggers have added rows of some tables.
        try database.run(sql: "INSERT OR REPLACE INTO \(table) (\(names)) VALUES (\(places))", SQLArguments(values))
    }

    private static func value(_ row: Int, _ type: String) -> SQLValue {
        let bytes = [Data([1]), Data([0, 255]), Data(), Data("four".utf8)]
        switch type {
        case "INTEGER": return .integer([1, 2, 3, -4][row])
        case "TEXT": return .text(["one", "two 🎉 'é'", "", "\u{1}four\\"][row])
        case "BLOB": return .bytes(bytes[row])
        default: return [.text("blue"), .integer(5), .real(-2.5), .bytes(Data([1]))][row]
        }
    }

    private func change(_ path: String, _ body: (Database) throws -> Void) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write(body)
        try queue.close()
    }

    /// Returns all rows of a file, with the row ids that tell the order of insertion, and with the assigned numbers.
    private func content(of path: String) throws -> [String: Set<[SQLValue]>] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { database in
            var content: [String: Set<[SQLValue]>] = [:]
            for table in StoredTable.all.map(\.name) + ["sqlite_sequence", "sqlite_master"] {
                let rowID = ["session", "pushMessage"].contains(table) ? "rowid, " : ""
                let columns = table == "sqlite_master" ? "type, name, sql" : "*"
                let statement = try database.prepare("SELECT \(rowID)\(columns) FROM \(table)", isKept: false)
                while try statement.step() {
                    let row = statement.columnNames.indices.map { statement.value(Int32($0)) }
                    content[table, default: []].insert(row)
                }
            }
            return content
        }
    }

    private func transfer(
        _ direction: StoreTransfer.Direction,
        _ path: String,
        _ settings: PostgreSQLSettings,
        key: UInt8 = 7
    ) throws -> StoreTransfer {
        StoreTransfer(direction, sqlite: path, settings, masterKey: try .fixture(key))
    }

    /// Runs a transfer, interrupted after every seventh batch of new rows, until it is complete.
    private func runInterrupted(_ transfer: StoreTransfer) async throws -> (tables: [StoreTransfer.Table], count: Int) {
        let (reached, batches) = (Shared(0), Shared(0))
        var count = 0
        while true {
            do {
                let tables = try await transfer.run { step in
                    let isNew = reached.withLock { rows in
                        defer { rows = max(rows, step.rows) }
                        return step.rows > rows
                    }
                    // Each run reads what is there: an interruption after every batch would take minutes.
                    guard step.phase == .copying, isNew else { return }
                    let number = batches.withLock { number in
                        number += 1
                        return number
                    }
                    if number % 7 == 0 { throw Interruption() }
                }
                return (tables, count)
            } catch is Interruption {
                count += 1
            }
        }
    }

    private func failure(_ transfer: StoreTransfer, isDry: Bool = false) async throws -> String {
        do {
            _ = try await transfer.run(isDry: isDry)
        } catch {
            return "\(error)"
        }
        return ""
    }

    // The tests.

    @Test func aStoreComesBackAsItWas() async throws {
        try await withTemporaryDirectory { directory in
            let (path, back) = ("\(directory)/provider.sqlite", "\(directory)/back.sqlite")
            try await self.makeStore(path)
            let content = try self.content(of: path)
            #expect(content.count == StoredTable.all.count + 2)
            let settings = try PostgreSQLServer.shared.empty()
            let away = try self.transfer(.toPostgreSQL, path, settings)

            let counted = try await away.run(isDry: true)
            #expect(counted.allSatisfy { $0.target == nil && $0.source.rows > 0 })
            let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"
            #expect(try PostgreSQLConnection(settings).count(sql: tables) == 0)

            let copied = try await away.run()
            #expect(copied.allSatisfy(\.isEqual) && copied.map(\.source) == counted.map(\.source))
            #expect(Set(copied.map(\.name)) == Set(StoredTable.all.map(\.name)))
            #expect(try self.content(of: path) == content)
            try await SQLStore(settings, masterKey: try .fixture(7)).close()

            let home = try self.transfer(.toSQLite, back, settings)
            #expect(try await home.run(isDry: true).map(\.source) == counted.map(\.source))
            #expect(!FileManager.default.fileExists(atPath: back))
            #expect(try await home.run().allSatisfy(\.isEqual))
            #expect(try self.content(of: back) == content)
            try await SQLStore(path: back, masterKey: try .fixture(7)).close()
        }
    }

    @Test func anInterruptedTransferGoesOn() async throws {
        try await withTemporaryDirectory { directory in
            let (path, back) = ("\(directory)/provider.sqlite", "\(directory)/back.sqlite")
            try await self.makeStore(path)
            let settings = try PostgreSQLServer.shared.empty()
            for (direction, file) in [(StoreTransfer.Direction.toPostgreSQL, path), (.toSQLite, back)] {
                var transfer = try self.transfer(direction, file, settings)
                transfer.maximumRows = 2
                let (tables, count) = try await self.runInterrupted(transfer)
                #expect(count > 8 && tables.allSatisfy(\.isEqual))
            }
            #expect(try self.content(of: back) == self.content(of: path))
        }
    }

    @Test func anUnfinishedTargetIsNotOpened() async throws {
        try await withTemporaryDirectory { directory in
            let (path, back) = ("\(directory)/provider.sqlite", "\(directory)/back.sqlite")
            try await self.makeStore(path)
            let settings = try PostgreSQLServer.shared.empty()
            let away = try self.transfer(.toPostgreSQL, path, settings)
            await #expect(throws: Interruption.self) { _ = try await away.run { _ in throw Interruption() } }
            let error = await #expect(throws: StoreError.self) {
                _ = try await SQLStore(settings, masterKey: try .fixture(7))
            }
            #expect(error?.description.contains("unfinished copy") == true)
            let home = try self.transfer(.toSQLite, back, settings)
            #expect(try await self.failure(home).contains("unfinished copy"), "nor is it copied")
            // One that is prepared anew continues where it was.
            #expect(try await away.run().allSatisfy(\.isEqual))
            await #expect(throws: Interruption.self) { _ = try await home.run { _ in throw Interruption() } }
            #expect(throws: StoreError.self) { _ = try SQLStore(path: back, masterKey: try .fixture(7)) }
        }
    }

    @Test func aTargetWithSomethingElseIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            let (path, other) = ("\(directory)/provider.sqlite", "\(directory)/other.sqlite")
            for path in [path, other] { try await self.makeStore(path) }
            let settings = try PostgreSQLServer.shared.empty()
            let away = try self.transfer(.toPostgreSQL, path, settings)
            let connection = try PostgreSQLConnection(settings)
            try connection.command("CREATE TABLE something (id bigint)")
            for isDry in [true, false] { #expect(try await self.failure(away, isDry: isDry).contains("is not empty")) }
            try connection.command("DROP TABLE something")
            await #expect(throws: Interruption.self) { _ = try await away.run { _ in throw Interruption() } }
            let second = try self.transfer(.toPostgreSQL, other, settings)
            #expect(try await self.failure(second).contains("unfinished copy of another store"))
            #expect(try await away.run().allSatisfy(\.isEqual))
            #expect(try await self.failure(away).contains("is not empty"), "it is complete")
            let home = try self.transfer(.toSQLite, other, settings)
            for isDry in [true, false] { #expect(try await self.failure(home, isDry: isDry).contains("is not empty")) }
        }
    }

    @Test(arguments: [
        ("UPDATE app SET name = 'a' || char(0) || 'b' WHERE id = 2", "app (id 2): the text of name"),
        ("UPDATE audit SET keyName = CAST(x'c328' AS TEXT) WHERE id = 1", "audit (id 1): the text of keyName"),
        ("UPDATE deviceAttribute SET value = x'02' WHERE device = 2", "deviceAttribute (device 2, app 2, name"),
    ])
    func aDamagedValueIsNamed(change: String, expected: String) async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            try await self.makeStore(path)
            try self.change(path) { try $0.execute(sql: change) }
            let away = try self.transfer(.toPostgreSQL, path, try PostgreSQLServer.shared.empty())
            for isDry in [true, false] { #expect(try await self.failure(away, isDry: isDry).contains(expected)) }
        }
    }

    @Test func aSourceThatIsNoStoreOfThisVersionIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let settings = try PostgreSQLServer.shared.empty()
            #expect(try await self.failure(self.transfer(.toSQLite, path, settings)).contains("has no store"))
            try await self.makeStore(path)
            let away = try self.transfer(.toPostgreSQL, path, settings, key: 8)
            #expect(try await self.failure(away).contains("the master key does not fit"))
            try self.change(path) { try $0.execute(sql: "DELETE FROM grdb_migrations WHERE rowid > 30") }
            let old = try self.transfer(.toPostgreSQL, path, settings)
            #expect(try await self.failure(old).contains("another version"))
        }
    }

    @Test func aDifferenceKeepsTheTargetUnfinished() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            try await self.makeStore(path)
            let settings = try PostgreSQLServer.shared.empty()
            let away = try self.transfer(.toPostgreSQL, path, settings)
            let tables = try await away.run { step in
                guard step.phase == .comparing else { return }
                try PostgreSQLConnection(settings).command("UPDATE audit SET status = 500 WHERE id = 1")
            }
            #expect(tables.filter { !$0.isEqual }.map(\.name) == ["audit"])
            await #expect(throws: StoreError.self) { _ = try await SQLStore(settings, masterKey: try .fixture(7)) }
            #expect(try await away.run().filter { !$0.isEqual }.map(\.name) == ["audit"])
        }
    }

    /// Numbers of both kinds are equal in SQLite, and one of PostgreSQL has 53 bits.
    @Test func numbersOfAttributesKeepTheirValues() async throws {
        try await withTemporaryDirectory { directory in
            let (path, back) = ("\(directory)/provider.sqlite", "\(directory)/back.sqlite")
            try await self.makeStore(path)
            let numbers = ["7.0", "-0.0", "1e300", "9007199254740993", "9223372036854775807"]
            try self.change(path) { database in
                for (index, number) in numbers.enumerated() {
                    try database.execute(sql: "INSERT INTO deviceAttribute VALUES (1, 'n\(index)', \(number), 1)")
                }
            }
            let settings = try PostgreSQLServer.shared.empty()
            #expect(try await self.transfer(.toPostgreSQL, path, settings).run().allSatisfy(\.isEqual))
            #expect(try await self.transfer(.toSQLite, back, settings).run().allSatisfy(\.isEqual))
            let queue = try DatabaseQueue(path: back)
            let values: [SQLValue] = try await queue.read { database in
                try database.values(sql: "SELECT value FROM deviceAttribute WHERE name GLOB 'n[0-9]' ORDER BY name")
            }
            let expected: [SQLValue] = [
                .integer(7), .integer(0), .real(1e300), .integer(9_007_199_254_740_992), .real(0x1p63),
            ]
            #expect(values == expected)
            try queue.close()
        }
    }
}
#endif
