import GRDB

/// Examines a database for corruption and for violations of the store's own rules.
enum IntegrityCheck {
    /// The maximum number of faults of each kind that are listed.
    static let longestList = 20

    /// Returns descriptions of the corruption that SQLite finds.
    static func damage(in database: any SQLConnection) throws -> [String] {
        do {
            let pages: [String] = try database.values(sql: "PRAGMA integrity_check(\(Self.longestList))", isKept: false)
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

    /// Describes violations of the store's own rules in a database with exactly the migrations of this version.
    /// - Parameters:
    ///   - isAtRest: Whether no provider is sending. With `false`, only the rules that hold at any time are checked.
    ///   - masterKey: The key that must open all secrets, or `nil` to skip that check.
    static func brokenRules(in database: any SQLConnection, isAtRest: Bool, masterKey: MasterKey?) throws -> [String] {
        do {
            let rules = IntegrityRule.always + (isAtRest ? IntegrityRule.atRest : [])
            return try rules.flatMap { try $0.faults(in: database) }
                + StoredTable.all.flatMap { try $0.faults(in: database, masterKey) }
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CORRUPT {
            return ["the store's rules cannot be examined: \(error.message ?? "\(error.resultCode)")"]
        }
    }
}

extension SQLStore {
    /// Examines the database for faults, which takes about a second per million deliveries.
    /// - Parameter isAtRest: Whether no provider is sending, and ``recover(now:)`` followed the end of the last one.
    /// - Returns: Descriptions of the faults. An intact database has none.
    package func checkIntegrity(isAtRest: Bool = false) async throws -> [String] {
        try await self.database.read { database in
            try IntegrityCheck.damage(in: database)
                + IntegrityCheck.brokenRules(in: database, isAtRest: isAtRest, masterKey: self.masterKey)
        }
    }
}

extension StoredTable {
    /// Returns descriptions of rows that cannot be decoded, up to ``IntegrityCheck/longestList``. In operation the
    /// store skips such rows, or pauses those that would block others, so that only an examination reports them.
    /// - Parameter masterKey: The key that must open all secrets, or `nil` to skip that check.
    fileprivate func faults(in database: any SQLConnection, _ masterKey: MasterKey?) throws -> [String] {
        guard let examination else { return [] }
        func text(_ value: SQLValue) -> String { String(value) ?? Int64(value).map(String.init) ?? "" }
        let rows = try database.cursor(sql: "SELECT * FROM \(self.name) WHERE \(examination.condition)")
        var faults: [String] = []
        while faults.count < IntegrityCheck.longestList, let row = try rows.next() {
            if let read = examination.read, try row.readable({ try read($0, masterKey) }) != nil { continue }
            let name = examination.name.map { "\($0.key) \(text(row[$0.value] ?? .null))" }.joined(separator: ", ")
            faults.append("\(name): what is stored of it cannot be read")
        }
        return faults
    }
}
