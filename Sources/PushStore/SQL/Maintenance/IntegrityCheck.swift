/// Examines a database for violations of the store's own rules.
enum IntegrityCheck {
    /// The maximum number of faults of each kind that are listed.
    static let longestList = 20

    /// Describes violations of the store's own rules in a database with exactly the migrations of this version.
    /// - Parameters:
    ///   - isAtRest: Whether no provider is sending. With `false`, only the rules that hold at any time are checked.
    ///   - masterKey: The key that must open all secrets, or `nil` to skip that check.
    static func brokenRules(in database: any SQLConnection, isAtRest: Bool, masterKey: MasterKey?) throws -> [String] {
        let rules = IntegrityRule.always + (isAtRest ? IntegrityRule.atRest : [])
        return try rules.flatMap { try $0.faults(in: database) }
            + StoredTable.all.flatMap { try $0.faults(in: database, masterKey) }
    }
}

extension SQLStore {
    /// Examines the database for faults, which takes about a second per million deliveries.
    /// - Parameter isAtRest: Whether no provider is sending, and ``recover(now:)`` followed the end of the last one.
    /// - Returns: Descriptions of the faults. An intact database has none.
    package func checkIntegrity(isAtRest: Bool = false) async throws -> [String] {
        try await self.database.faults(isAtRest: isAtRest, masterKey: self.masterKey)
    }

    /// Returns the names of the applied migrations, in the order of their application.
    package func migrations() async throws -> [String] { try await self.database.migrations() }
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
