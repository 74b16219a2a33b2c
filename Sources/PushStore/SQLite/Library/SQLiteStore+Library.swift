package import Foundation
import GRDB
import PushSupport
import PushTypes

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
        // Long bodies cost as much as a query over many devices.
        return try await self.database.query { database in
            try LibraryRows.page(
                sql,
                [app, kind.rawValue, after, limit],
                in: database,
                by: "number",
                limit: limit,
                bytes: bytes,
                LibraryRows.item
            )
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
        return try await self.database.lookup { database in
            try database.rows(sql: sql, [app, kind.rawValue, after, limit])
                .compactMap { try $0.readable(LibraryRows.entry) }
        }
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
        // Long bodies cost as much as a query over many devices.
        return try await self.database.query { database in
            try LibraryRows.page(
                sql,
                [item.uuidString, before, limit],
                in: database,
                by: "version",
                limit: limit,
                bytes: bytes,
                LibraryRows.version
            )
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
