import GRDB

/// Examines a database for damage.
enum IntegrityCheck {
    /// The maximum number of faults of one kind that are listed.
    static let longestList = 20

    /// Returns the faults that SQLite finds.
    static func damage(in database: Database) throws -> [String] {
        do {
            let pages = try String.fetchAll(database, sql: "PRAGMA integrity_check(\(Self.longestList))")
            let sql = "SELECT * FROM pragma_foreign_key_check LIMIT \(Self.longestList)"
            let orphans = try database.rows(sql: sql, isKept: false)
            return pages.filter { $0 != "ok" }
                + orphans.map { row in
                    let (table, parent): (String?, String?) = (row["table"], row["parent"])
                    return "a row of \(table ?? "?") names one of \(parent ?? "?") that is not there"
                }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CORRUPT {
            return [error.message ?? "\(error.resultCode)"]
        }
    }

    /// Returns the faults by the store's own rules. Exactly the migrations of this version must have been applied.
    /// - Parameters:
    ///   - isAtRest: Whether no provider is sending. Otherwise only rules are checked that hold at any time.
    ///   - masterKey: The key that must open all secrets; `nil` to skip that check.
    static func brokenRules(in database: Database, isAtRest: Bool, masterKey: MasterKey?) throws -> [String] {
        do {
            let rules = IntegrityRule.always + (isAtRest ? IntegrityRule.atRest : [])
            return try rules.flatMap { try $0.faults(in: database) }
                + StoredTable.all.flatMap { try $0.faults(in: database, masterKey) }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CORRUPT {
            return ["the store's rules cannot be examined: \(error.message ?? "\(error.resultCode)")"]
        }
    }
}

extension SQLiteStore {
    /// Examines the database, which takes about a second per million deliveries.
    /// - Parameter isAtRest: Whether no provider is sending, and ``recover(now:)`` has been called since the last one
    ///   did.
    /// - Returns: The faults in words; empty for an intact database.
    package func checkIntegrity(isAtRest: Bool = false) async throws -> [String] {
        try await self.database.read { database in
            try IntegrityCheck.damage(in: database)
                + IntegrityCheck.brokenRules(in: database, isAtRest: isAtRest, masterKey: self.masterKey)
        }
    }
}

extension StoredTable {
    /// Returns descriptions of the rows that cannot be read, at most ``IntegrityCheck/longestList``. The store leaves
    /// such rows out, or pauses them where they would block others, so that only an examination reports them.
    /// - Parameter masterKey: The key that must open all secrets; `nil` to skip that check.
    fileprivate func faults(in database: Database, _ masterKey: MasterKey?) throws -> [String] {
        guard let examination else { return [] }
        func text(_ value: DatabaseValue) -> String {
            String.fromDatabaseValue(value) ?? Int64.fromDatabaseValue(value).map { "\($0)" } ?? ""
        }
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM \(self.name) WHERE \(examination.condition)")
        var faults: [String] = []
        while faults.count < IntegrityCheck.longestList, let row = try rows.next() {
            if let read = examination.read, try row.readable({ try read($0, masterKey) }) != nil { continue }
            let name = examination.name.map { "\($0.key) \(text(row[$0.value]))" }.joined(separator: ", ")
            faults.append("\(name): what is stored of it cannot be read")
        }
        return faults
    }
}
