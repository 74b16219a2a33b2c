import GRDB

extension IntegrityCheck {
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

    /// Describes violations of the store's own rules as ``brokenRules(in:isAtRest:masterKey:)`` does, or that a corrupt
    /// file cannot be examined for them.
    static func readableRules(in database: any SQLConnection, isAtRest: Bool, masterKey: MasterKey?) throws -> [String]
    {
        do {
            return try Self.brokenRules(in: database, isAtRest: isAtRest, masterKey: masterKey)
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CORRUPT {
            return ["the store's rules cannot be examined: \(error.message ?? "\(error.resultCode)")"]
        }
    }
}
