import Foundation

/// The setting for the address of a database in PostgreSQL.
enum DatabaseSettings: SettingSection {
    static let address = Setting("database", flag: "database")
        .help("Address in PostgreSQL, such as postgres://martlet@db.example.com/martlet, or @FILE that contains it")
        .detail("It has no password: that is in the file that its `passfile=FILE` or `PGPASSFILE` names.")

    static let settings = [address]

    /// Returns the address of the database, from the file that the setting names.
    /// - Throws: ``SettingsError`` if the setting is absent or its file cannot be read.
    static func address(_ settings: SettingsReader) throws -> String {
        guard let text = settings.string(self.address) else {
            let variable = self.address.environmentVariable
            throw SettingsError("database: give the address of PostgreSQL: --database or \(variable)", status: .usage)
        }
        guard text.hasPrefix("@") else { return text }
        let file = try InputFile.text(String(text.dropFirst()), for: self.address.key)
        return file.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
