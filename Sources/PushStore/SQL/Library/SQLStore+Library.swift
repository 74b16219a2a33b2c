package import Foundation
package import ProviderModel
import PushSupport
import PushTypes

extension SQLStore {
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

extension SQLConnection {
    /// Reads the records of a page one by one, up to the limits of their number and of the size of their bodies.
    /// - Parameter column: The name of the column by which the rows are sorted.
    fileprivate func page<Entry: StoredRecord & Hashable>(
        sql: String,
        _ arguments: SQLArguments,
        by column: String,
        limit: Int,
        bytes: Int
    ) throws -> ListPage<Entry> {
        let rows = try self.cursor(sql: sql, arguments)
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

/// Reads and writes the library items of one kind and app, within a transaction.
struct LibraryRows {
    let app: Int64
    let kind: LibraryItem.Kind
    let database: any SQLConnection

    func item(_ name: LibraryItemName) throws -> LibraryItem? {
        let (column, value) =
            switch name {
            case .id(let id): ("id", id.uuidString)
            case .name(let name): ("name", name.text)
            }
        let sql = "SELECT * FROM libraryItem WHERE app = ? AND kind = ? AND \(column) = ?"
        return try self.database.record(sql: sql, [self.app, self.kind.rawValue, value])
    }

    // MARK: Changes

    /// Applies a change, or returns the reason for rejecting it.
    func apply(_ change: LibraryChange, limits: LibraryLimits) throws -> LibraryChangeResult {
        let old = try self.item(change.item)
        if let expected = change.expected, expected != old?.version ?? 0 { return .stale(version: old?.version ?? 0) }
        guard let old else {
            switch change.action {
            case .add, .save: return try self.add(change, limits: limits)
            case .replace, .restore: return .missing
            }
        }
        if change.action == .add { return .nameTaken }
        var new = old
        var restored: Int64?
        if case .restore(let version) = change.action {
            guard let earlier = try Self.version(version, of: old.number, in: self.database)
            else { return .missingVersion }
            (new.body, new.description, restored) = (earlier.body, earlier.description, version)
        }
        new.body = change.body ?? new.body
        if let description = change.description { new.description = description.isEmpty ? nil : description }
        if let name = change.name, BytewiseString(name) != BytewiseString(old.name) {
            guard try self.item(.name(BytewiseString(name))) == nil else { return .nameTaken }
            // A schedule refers to an item by its name at each run.
            let users = try self.users(of: old.number)
            guard users.isEmpty else { return .inUse(schedules: users) }
            new.name = name
        }
        (new.version, new.changedAt, new.changedBy) = (old.version + 1, change.at, change.by)
        try self.write(new, restoredFrom: restored)
        try self.forgetVersions(of: new, limits: limits)
        return .changed(new, isNew: false)
    }

    private func add(_ change: LibraryChange, limits: LibraryLimits) throws -> LibraryChangeResult {
        guard case .name(let place) = change.item else { return .missing }
        // A new item may be saved under another name than the one in the path. Both names must then be free.
        let name = change.name.map { BytewiseString($0) } ?? place
        guard try self.item(.name(name)) == nil else { return .nameTaken }
        let count = "SELECT count(*) FROM libraryItem WHERE app = ? AND kind = ?"
        guard try self.database.count(sql: count, [self.app, self.kind.rawValue]) < limits.items
        else { return .tooMany }
        var new = LibraryItem(
            id: UUID(),
            app: self.app,
            kind: self.kind,
            name: name.text,
            description: change.description?.isEmpty == true ? nil : change.description,
            body: change.body ?? [:],
            version: 1,
            createdAt: change.at,
            createdBy: change.by
        )
        var columns: ColumnValues = [
            "id": new.id.uuidString, "app": new.app, "kind": new.kind.rawValue,
            "createdAt": new.createdAt.milliseconds, "createdKey": new.createdBy?.id.uuidString,
            "createdKeyName": new.createdBy?.name, "changedAt": new.changedAt.milliseconds,
        ]
        columns += try new.versionColumns
        new.number = try self.database.insert(into: "libraryItem", of: .app, columns, returning: "number")
        try self.insertVersion(new, restoredFrom: nil)
        return .changed(new, isNew: true)
    }

    private func write(_ item: LibraryItem, restoredFrom: Int64?) throws {
        var columns: ColumnValues = ["changedAt": item.changedAt.milliseconds]
        columns += try item.versionColumns
        try self.database.update("libraryItem", columns, id: item.id.uuidString)
        try self.insertVersion(item, restoredFrom: restoredFrom)
    }

    private func insertVersion(_ item: LibraryItem, restoredFrom: Int64?) throws {
        var columns: ColumnValues = [
            "item": item.number, "at": item.changedAt.milliseconds, "restoredFrom": restoredFrom,
        ]
        columns += try item.versionColumns
        try self.database.insert(into: "libraryVersion", columns)
    }

    /// Deletes the oldest versions beyond the limit, except those to which schedules refer.
    private func forgetVersions(of item: LibraryItem, limits: LibraryLimits) throws {
        let sql = """
            DELETE FROM libraryVersion WHERE item = ?1 AND version <= ?2
                AND version NOT IN (SELECT version FROM scheduleUse WHERE item = ?1)
            """
        try self.database.run(sql: sql, [item.number, item.version - Int64(limits.versions)])
    }

    /// Deletes an item, unless a schedule uses it or its version differs from `expected`, where `nil` stands for any.
    func delete(_ name: LibraryItemName, expected: Int64?) throws -> LibraryChangeResult {
        guard let item = try self.item(name) else { return .missing }
        if let expected, expected != item.version { return .stale(version: item.version) }
        let users = try self.users(of: item.number)
        guard users.isEmpty else { return .inUse(schedules: users) }
        try self.database.run(sql: "DELETE FROM libraryItem WHERE number = ?", [item.number])
        return .deleted
    }

    private func users(of item: Int64) throws -> [String] {
        let sql = """
            SELECT DISTINCT name FROM scheduleUse JOIN schedule ON schedule.id = scheduleUse.schedule
            WHERE item = ? ORDER BY name LIMIT 5
            """
        return try self.database.values(sql: sql, [item])
    }

    /// Returns one version of an item, or `nil` if it does not exist or is no longer kept.
    static func version(_ version: Int64, of item: Int64, in database: any SQLConnection) throws -> LibraryVersion? {
        try database.record(sql: "SELECT * FROM libraryVersion WHERE item = ? AND version = ?", [item, version])
    }
}

extension LibraryItem: StoredRecord {
    static let table = "libraryItem"

    init(_ row: StoredRow) throws {
        let creator = (row["createdKey"] as UUID?).map { KeyReference(id: $0, name: row["createdKeyName"] ?? "") }
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            kind: try row.get(raw: "kind"),
            name: try row.get("name"),
            description: row["description"],
            body: try row.libraryBody(),
            version: try row.get("version"),
            createdAt: try row.get("createdAt"),
            createdBy: creator
        )
        (self.number, self.changedAt, self.changedBy) = (try row.get("number"), try row.get("changedAt"), row.key)
    }

    fileprivate var versionColumns: ColumnValues {
        get throws {
            [
                "version": self.version, "name": self.name, "description": self.description,
                "body": try JSONValue.object(self.body).text, "key": self.changedBy?.id.uuidString,
                "keyName": self.changedBy?.name,
            ]
        }
    }
}

extension LibraryEntry: StoredRecord {
    static let table = "libraryItem"

    init(_ row: StoredRow) throws {
        self.init(id: try row.get("id"), number: try row.get("number"), name: try row.get("name"))
    }
}

extension LibraryVersion: StoredRecord {
    static let table = "libraryVersion"

    init(_ row: StoredRow) throws {
        self.init(
            version: try row.get("version"),
            name: try row.get("name"),
            description: row["description"],
            body: try row.libraryBody(),
            at: try row.get("at"),
            by: row.key,
            restoredFrom: row["restoredFrom"]
        )
    }
}

extension StoredRow {
    fileprivate func libraryBody() throws -> [String: JSONValue] {
        let text: Data = try self.get("body")
        guard case .object(let members)? = try? JSONValue(parsing: text)
        else { throw DamagedRow(table: self.table) }
        return members
    }
}

/// Reads and writes the library items that a schedule uses, within a transaction.
struct ScheduleUses {
    /// The rows to write: the number of the item, and the number of its version, or 0 for the current version.
    private let rows: [(item: Int64, version: Int64)]
    private let database: any SQLConnection

    /// Looks up the items that a schedule is going to use.
    /// - Returns: `nil` if an item or a version no longer exists.
    init?(_ uses: Set<LibraryUse>, app: Int64, in database: any SQLConnection) throws {
        var rows: [(item: Int64, version: Int64)] = []
        for use in uses {
            let sql = "SELECT number FROM libraryItem WHERE id = ? AND app = ?"
            guard let item = try database.integer(sql: sql, [use.item.uuidString, app]) else { return nil }
            if let version = use.version, try LibraryRows.version(version, of: item, in: database) == nil { return nil }
            rows.append((item, use.version ?? 0))
        }
        (self.rows, self.database) = (rows, database)
    }

    /// Replaces the stored list of items that a schedule uses.
    func write(for schedule: UUID) throws {
        try self.database.run(sql: "DELETE FROM scheduleUse WHERE schedule = ?", [schedule.uuidString])
        for (item, version) in self.rows {
            try self.database.insert(
                into: "scheduleUse",
                ["schedule": schedule.uuidString, "item": item, "version": version]
            )
        }
    }
}
