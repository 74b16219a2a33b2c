import Foundation

extension MasterKey {
    /// Loads the master key from a file. A missing key is created only if the database contains no secrets. Otherwise a
    /// new key could not open them and would hide that the right key is missing.
    /// - Throws: ``StoreError/missingMasterKey(path:database:)``, ``StoreError/emptyDatabase(path:masterKey:)``, and
    ///   ``StoreError`` for a database that cannot be read.
    package static func load(orCreateAt path: String, besideDatabase database: String) throws -> MasterKey {
        if FileManager.default.fileExists(atPath: path) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: database)
            guard attributes?[.size] as? Int != 0 else {
                throw StoreError.emptyDatabase(path: database, masterKey: path)
            }
        } else if try SQLiteStoreFile(path: database).holdsSecrets() {
            throw StoreError.missingMasterKey(path: path, database: database)
        }
        return try Self.load(orCreateAt: path)
    }
}
