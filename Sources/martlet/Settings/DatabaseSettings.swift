import Foundation
import ProviderAPI

/// The settings of a database of PostgreSQL, which several nodes can share.
enum DatabaseSettings: SettingSection {
    static let address = Setting("serve.database", flag: "database", default: "provider.sqlite in the data directory")
        .help("Address in PostgreSQL, such as postgres://martlet@db.example.com/martlet, or @FILE that contains it")
        .detail("Several nodes can share it, see [Several nodes](cluster.md). They need the same master key.")
        .detail("It has no password: that is in the file that its `passfile=FILE` or `PGPASSFILE` names.")
    private static let node = Setting("serve.node", flag: "node", default: "the name of the host")
        .help("Name of this node among those that share a database")
    private static let pooler = Setting("serve.databasePooler", flag: "database-pooler", kind: .toggle)
        .help("The database is behind a pooler that gives each transaction another connection")
        .detail("Needed for PgBouncer before 1.21 in transaction mode, which loses prepared statements.")

    static let settings = [address, node, pooler]

    /// Sets the database and the name of the node, if the settings name a database.
    /// - Throws: ``SettingsError`` if the file with the address cannot be read.
    static func apply(_ settings: SettingsReader, to configuration: inout ProviderConfiguration) throws {
        configuration.nodeName = settings.string(self.node)
        configuration.hasDatabasePooler = settings.isOn(self.pooler)
        configuration.database = try settings.string(self.address).map(Self.text)
    }

    /// Returns the address of the database, from the file that the setting names.
    /// - Throws: ``SettingsError`` if the setting is absent or its file cannot be read.
    static func address(_ settings: SettingsReader) throws -> String {
        guard let text = settings.string(self.address) else {
            let (key, variable) = (self.address.key, self.address.environmentVariable)
            throw SettingsError("\(key): give the address of PostgreSQL: --database or \(variable)", status: .usage)
        }
        return try self.text(text)
    }

    private static func text(_ address: String) throws -> String {
        guard address.hasPrefix("@") else { return address }
        let file = try InputFile.text(String(address.dropFirst()), for: self.address.key)
        return file.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
