import Foundation

/// Checks the sealed secrets of a database when it is opened.
struct SealedRows {
    private static let mark = "martlet"

    let database: any SQLConnection
    let masterKey: MasterKey

    /// Checks that the master key belongs to this database, and writes a mark that simplifies later checks.
    ///
    /// The key is right if it opens the mark or any secret. A single secret that it does not open is damaged and stays.
    /// - Throws: ``StoreError/wrongMasterKey`` if there are secrets or passwords, and the key opens none of them.
    func checkMasterKey() throws {
        if try self.hasMark() { return }
        guard try self.areOpened() else { throw StoreError.wrongMasterKey }
        let mark = try self.masterKey.seal(Self.mark, for: .mark)
        try self.database.replace(in: "masterKeyMark", key: ["id": 1], ["sealed": mark])
    }

    /// Returns whether the key opens the mark or any secret, or if there is nothing to open.
    func areOpened() throws -> Bool {
        if try self.hasMark() { return true }
        return try StoredTable.all.contains { try $0.isOpened(by: self.masterKey, in: self.database) }
            || !StoredTable.all.contains { try $0.holdsSecrets(in: self.database) }
    }

    private func hasMark() throws -> Bool {
        guard try self.database.hasTable("masterKeyMark") else { return false }
        let mark: Data? = try self.database.value(sql: "SELECT sealed FROM masterKeyMark")
        return mark.map { (try? self.masterKey.open($0, for: .mark)) == Self.mark } ?? false
    }
}

/// Access to the secrets of a table. A database of an older version may lack the table.
extension StoredTable {
    /// The maximum number of secrets in a table that are tried with a key, because there may be millions.
    private static let maximumTries = 1000

    /// Returns whether the table contains a secret that would be lost with a new master key.
    func holdsSecrets(in database: any SQLConnection) throws -> Bool {
        guard let secrets, secrets.isLost, try database.hasTable(self.name) else { return false }
        return try database.hasRow(sql: "SELECT 1 FROM \(self.name) WHERE \(secrets.column) IS NOT NULL LIMIT 1")
    }

    fileprivate func isOpened(by masterKey: MasterKey, in database: any SQLConnection) throws -> Bool {
        guard let secrets, let context = secrets.context, try database.hasTable(self.name) else { return false }
        let sql = "SELECT * FROM \(self.name) WHERE \(secrets.column) IS NOT NULL LIMIT \(Self.maximumTries)"
        let rows = try database.cursor(sql: sql)
        while let row = try rows.next() {
            guard let context = context(row), let sealed = row[secrets.column] as Data? else { continue }
            if (try? masterKey.open(sealed, for: context)) != nil { return true }
        }
        return false
    }

    /// Deletes the secrets of the table, or the rows that contain them.
    /// - Returns: The number of deleted secrets.
    func resetSecrets(in database: any SQLConnection) throws -> Int {
        guard let secrets, try database.hasTable(self.name) else { return 0 }
        let change = secrets.keepsRow ? "UPDATE \(self.name) SET \(secrets.column) = NULL" : "DELETE FROM \(self.name)"
        return try database.run(sql: "\(change) WHERE \(secrets.column) IS NOT NULL")
    }
}
