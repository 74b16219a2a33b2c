import GRDB
import PushTesting
import Testing

@testable import PushStore

/// The list of tables, against the tables of a new database.
@Suite(.timeLimit(.patience)) struct StoredTableTests {
    /// A table that nobody decided about would stay after an erasure, and its damage would not be noticed.
    @Test func itHasEveryTable() async throws {
        let names = StoredTable.all.map(\.name)
        #expect(names.count == Set(names).count)
        try await self.withTables { tables in
            #expect(Set(tables.keys).symmetricDifference(names) == [])
        }
    }

    /// A new table with a sealed column that is not in the list would be lost in silence, or would block the recipe.
    @Test func itHasEverySealedColumn() async throws {
        try await self.withTables { tables in
            let sealed = tables.filter { $0.value.contains("sealed") }.keys
            let listed = StoredTable.all.filter { $0.secrets?.column == "sealed" }.map(\.name)
            #expect(Set(sealed) == Set(listed))
        }
        let others = StoredTable.all.filter { $0.secrets != nil && $0.secrets?.column != "sealed" }
        #expect(others.map(\.name) == ["person"] && others.allSatisfy { $0.secrets?.context == nil })
    }

    /// What an app or a notification owns has a column by which it is found.
    @Test func ownersAreFoundByTheirColumns() async throws {
        try await self.withTables { tables in
            for table in StoredTable.all {
                let columns = tables[table.name] ?? []
                switch table.owner {
                case .app: #expect(columns.contains("app") || table.name == "app")
                case .notification: #expect(columns.first == "notification")
                // Its notification's erasure deletes it.
                case .provider, .otherRow: #expect(!columns.contains("app"), "\(table.name)")
                }
            }
        }
    }

    /// A column that tells whose a row is needs a decision about the erasure of a user.
    @Test func everyColumnThatTellsAUserIsNoticed() async throws {
        let telling: Set = ["user", "installation", "holder", "device", "token", "subject"]
        // A text about a difference, without its recipient.
        let exceptions: Set = ["shadowDifference"]
        try await self.withTables { tables in
            for table in StoredTable.all where !exceptions.contains(table.name) {
                let columns = telling.intersection(tables[table.name] ?? [])
                let isDecided = columns.isEmpty == table.traces.isEmpty || table.traces == [.other]
                #expect(isDecided, "\(table.name): \(columns)")
                for (trace, column) in [(StoredTable.Trace.user, "user"), (.holder, "holder"), (.device, "device")] {
                    if table.traces.contains(trace) { #expect(columns.contains(column), "\(table.name)") }
                }
            }
        }
    }

    /// Calls `body` with the names of the columns of each table of a new database.
    private func withTables(_ body: ([String: [String]]) throws -> Void) async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let tables = try await store.database.read { database -> [String: [String]] in
                let sql = """
                    SELECT m.name AS name, c.name AS column FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                    WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name != 'grdb_migrations'
                    """
                let columns = try Dictionary(grouping: database.rows(sql: sql)) { try #require($0["name"] as String?) }
                return try columns.mapValues { try $0.map { try #require($0["column"] as String?) } }
            }
            try body(tables)
            try await store.close()
        }
    }
}
