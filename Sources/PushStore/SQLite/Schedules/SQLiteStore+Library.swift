package import Foundation
import GRDB
package import ProviderModel

extension SQLiteStore {
    package func libraryItem(
        _ name: LibraryItemName,
        of kind: LibraryItem.Kind,
        app: Int64
    ) async throws -> LibraryItem? {
        try await self.database.lookup { try LibraryRows(app: app, kind: kind, database: $0).item(name) }
    }

    package func libraryItems(
        of kind: LibraryItem.Kind,
        app: Int64,
        after: Int64,
        limit: Int,
        bytes: Int
    ) async throws -> ListPage<LibraryItem> {
        let sql = "SELECT * FROM libraryItem WHERE app = ? AND kind = ? AND number > ? ORDER BY number LIMIT ?"
        // Reading long bodies costs as much as a query over many devices.
        return try await self.database.query {
            try $0.page(sql: sql, [app, kind.rawValue, after, limit], by: "number", limit: limit, bytes: bytes)
        }
    }

    package func libraryNames(
        of kind: LibraryItem.Kind,
        app: Int64,
        after: Int64,
        limit: Int
    ) async throws -> [LibraryEntry] {
        let sql = """
            SELECT id, number, name FROM libraryItem WHERE app = ? AND kind = ? AND number > ? ORDER BY number LIMIT ?
            """
        return try await self.database.lookup { try $0.records(sql: sql, [app, kind.rawValue, after, limit]) }
    }

    package func libraryItems(
        _ names: Set<LibraryItemName>,
        of kind: LibraryItem.Kind,
        app: Int64
    ) async throws -> [LibraryItemName: LibraryItem] {
        try await self.database.lookup { database in
            let rows = LibraryRows(app: app, kind: kind, database: database)
            var items: [LibraryItemName: LibraryItem] = [:]
            for name in names { items[name] = try rows.item(name) }
            return items
        }
    }

    package func changeLibrary(_ change: LibraryChange, limits: LibraryLimits) async throws -> LibraryChangeResult {
        try await self.database.write { database in
            try LibraryRows(app: change.app, kind: change.kind, database: database).apply(change, limits: limits)
        }
    }

    package func deleteLibraryItem(
        _ name: LibraryItemName,
        of kind: LibraryItem.Kind,
        app: Int64,
        expected: Int64?
    ) async throws -> LibraryChangeResult {
        try await self.database.write { database in
            try LibraryRows(app: app, kind: kind, database: database).delete(name, expected: expected)
        }
    }

    package func libraryVersions(
        of item: UUID,
        before: Int64,
        limit: Int,
        bytes: Int
    ) async throws -> ListPage<LibraryVersion> {
        let sql = """
            SELECT libraryVersion.* FROM libraryItem JOIN libraryVersion ON libraryVersion.item = libraryItem.number
            WHERE id = ? AND libraryVersion.version < ? ORDER BY libraryVersion.version DESC LIMIT ?
            """
        // Reading long bodies costs as much as a query over many devices.
        return try await self.database.query {
            try $0.page(sql: sql, [item.uuidString, before, limit], by: "version", limit: limit, bytes: bytes)
        }
    }

    package func libraryVersion(_ version: Int64, of item: UUID) async throws -> LibraryVersion? {
        try await self.database.lookup { database in
            let sql = "SELECT number FROM libraryItem WHERE id = ?"
            guard let number = try database.integer(sql: sql, [item.uuidString]) else { return nil }
            return try LibraryRows.version(version, of: number, in: database)
        }
    }
}

extension Database {
    /// Reads the records of a page one by one, up to the limits of their number and of the size of their bodies.
    /// - Parameter column: The name of the column by which the rows are sorted.
    fileprivate func page<Entry: StoredRecord & Hashable>(
        sql: String,
        _ arguments: StatementArguments,
        by column: String,
        limit: Int,
        bytes: Int
    ) throws -> ListPage<Entry> {
        let rows = try Row.fetchCursor(try self.cachedStatement(sql: sql), arguments: arguments)
        var page = ListPage<Entry>(entries: [], next: nil)
        var count = 0
        while let row = try rows.next() {
            if let entry = try row.readable(Entry.init(row:)) { page.entries.append(entry) }
            count += 1
            page.bodyBytes += (row["body"] as Data?)?.count ?? 0
            guard count < limit, page.bodyBytes <= bytes else {
                page.next = (row[column] as Int64?).map { ListPosition(number: $0) }
                break
            }
        }
        return page
    }
}
