import Foundation
import GRDB

/// The sealed secrets of a database, examined when it is opened.
struct SealedRows {
    private static let mark = "martlet"

    let database: Database
    let masterKey: MasterKey

    /// Checks that the master key is the one of this database, and leaves a mark for the next check.
    ///
    /// The key fits if it opens the mark or any secret. A row that alone cannot be opened is damaged, and stays.
    /// - Throws: ``StoreError/wrongMasterKey`` if there are secrets or passwords and nothing can be opened.
    func checkMasterKey() throws {
        if try self.hasMark() { return }
        guard try self.areOpened() else { throw StoreError.wrongMasterKey }
        let sql = "INSERT OR REPLACE INTO masterKeyMark (id, sealed) VALUES (1, ?)"
        try self.database.run(sql: sql, [try self.masterKey.seal(Self.mark, for: .mark)])
    }

    /// Returns `true` if the key opens the mark or any secret, or if there is none.
    func areOpened() throws -> Bool {
        if try self.hasMark() { return true }
        return try SealedTable.all.contains { try $0.isOpened(by: self.masterKey, in: self.database) }
            || !SealedTable.all.contains { try $0.holdsSecrets(in: self.database) }
    }

    private func hasMark() throws -> Bool {
        guard try self.database.tableExists("masterKeyMark") else { return false }
        let mark = try Data.fetchOne(self.database, sql: "SELECT sealed FROM masterKeyMark")
        return mark.map { (try? self.masterKey.open($0, for: .mark)) == Self.mark } ?? false
    }
}
