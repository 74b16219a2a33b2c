import ArgumentParser
import Foundation
import Logging
import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport

/// `martlet reset-admin-key`: creates an admin key without the need for an existing one.
struct ResetAdminKeyCommand: AsyncParsableCommand {
    static let configuration = command("reset-admin-key")
        .help("Make an admin key when the last one is lost; the provider must not run.")
        .detail("The key is printed, once. Other keys stay: remove the lost one with 'martlet key remove'.")
        .example("reset-admin-key --data-directory /var/lib/martlet")

    @OptionGroup var data: DataDirectoryOptions
    @Option(help: "The name of the key in lists.") var name = "admin key made by reset-admin-key"

    func run() async throws {
        let paths = try await self.data.paths()
        let lock = try DatabaseRestore.lock(paths)
        let path = paths.databasePath
        guard FileManager.default.fileExists(atPath: path) else {
            throw SettingsError("there is no database at \(path)")
        }
        let store = try SQLStore(
            path: path,
            masterKey: MasterKey.load(orCreateAt: paths.masterKeyPath, besideDatabase: path)
        )
        let quiet = Logger(label: "martlet") { _ in SwiftLogNoOpLogHandler() }
        let keys = try await APIKeys(store: store, time: SystemTime(), logger: quiet)
        let (key, text) = try await keys.issue(name: self.name, scopes: [.admin])
        try await store.close()
        _ = consume lock
        let result: JSONValue = .members([
            "id": key.id.uuidString.lowercased().json, "name": self.name.json, "key": text.json,
        ])
        do {
            try StandardOutput.result(self.data.json ? try result.line : text)
        } catch let error as OutputError {
            // The key is valid, and was not shown.
            let id = key.id.uuidString.lowercased()
            let remedy = "run it again, and remove the key that was not shown with 'martlet key remove \(id)'"
            throw SettingsError("\(error); \(remedy)")
        }
    }
}

/// `martlet reset-secrets`: removes the secrets that were encrypted with a lost master key.
struct ResetSecretsCommand: AsyncParsableCommand {
    static let configuration = command("reset-secrets")
        .help("Remove the secrets that a lost master key sealed; the provider must not run.")
        .detail(
            """
            Prints what is removed, and how to bring it back. Devices, notifications and API keys stay. The former \
            database is kept beside the new one. The next start makes a new master key if there is none.
            """
        )
        .example("reset-secrets --data-directory /var/lib/martlet")

    @OptionGroup var data: DataDirectoryOptions
    @Flag(help: "Remove them even if the master key opens them.") var force = false

    func run() async throws {
        let paths = try await self.data.paths()
        let lock = try DatabaseRestore.lock(paths)
        let (path, file) = (paths.databasePath, SQLiteStoreFile(path: paths.databasePath))
        guard FileManager.default.fileExists(atPath: path) else {
            throw SettingsError("there is no database at \(path)")
        }
        if !self.force, FileManager.default.fileExists(atPath: paths.masterKeyPath),
            try file.isOpened(by: MasterKey.load(orCreateAt: paths.masterKeyPath))
        {
            let advice = "nothing has to be removed; --force removes them all the same"
            throw SettingsError("the master key \(paths.masterKeyPath) opens the secrets of \(path): \(advice)")
        }
        let kept = try Self.freshName(beside: path)
        try await file.copy(to: kept, isExamined: false)
        let removed = try file.resetSecrets()
        _ = consume lock
        if self.data.json {
            let entries = removed.map { table, count in
                JSONValue.members(["secrets": table.name.json, "count": count.json, "remedy": table.remedy.json])
            }
            let result: JSONValue = .members([
                "database": path.json, "previous": kept.json, "removed": .array(entries),
            ])
            return try StandardOutput.result(try result.line)
        }
        for (table, count) in removed {
            try StandardOutput.result("removed \(count) \(table.name): \(table.remedy)")
        }
        if removed.isEmpty { try StandardOutput.result("\(path) holds no secrets") }
        try StandardOutput.result("the previous database is \(kept)")
    }

    private static func freshName(beside path: String) throws -> String {
        let names = ["\(path).before-reset"] + (2..<1000).map { "\(path).before-reset-\($0)" }
        guard let name = names.first(where: { !FileManager.default.fileExists(atPath: $0) }) else {
            throw SettingsError("\(path).before-reset exists too often: remove the old ones")
        }
        return name
    }
}
