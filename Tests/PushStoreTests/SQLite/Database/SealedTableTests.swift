import GRDB
import PushTesting
import Testing

@testable import PushStore

/// The list of tables that need the master key.
@Suite(.timeLimit(.patience)) struct SealedTableTests {
    /// A new table with a sealed column that is not in the list would be lost in silence, or would block the recipe.
    @Test func itHasEveryTableWithASealedColumn() async throws {
        try await withTemporaryDirectory { directory in
            let store = try SQLiteStore(path: "\(directory)/provider.sqlite", masterKey: try .fixture(1))
            let tables = try await store.database.read { database in
                try String.fetchAll(
                    database,
                    sql: """
                        SELECT m.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                        WHERE m.type = 'table' AND c.name = 'sealed'
                        """
                )
            }
            let listed = SealedTable.all.filter { $0.column == "sealed" }.map(\.table)
            #expect(Set(tables) == Set(listed))
            #expect(listed.count == Set(listed).count)
            #expect(SealedTable.all.filter { $0.context == nil }.map(\.table) == ["person"])
            try store.close()
        }
    }
}
