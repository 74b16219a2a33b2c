import ArgumentParser
import Foundation
import Logging
import ProviderAPI
import PushProvider
import PushStore
import PushSupport

/// `martlet reset-admin-key`: makes an admin key without having one.
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
        let store = try SQLiteStore(
            path: path,
            masterKey: MasterKey.load(orCreateAt: paths.masterKeyPath, besideDatabase: path)
        )
        let quiet = Logger(label: "martlet") { _ in SwiftLogNoOpLogHandler() }
        let keys = try await APIKeys(store: store, time: SystemTime(), logger: quiet)
        let (key, text) = try await keys.issue(name: self.name, scopes: [.admin])
        try store.close()
        _ = consume lock
        let result: JSONValue = .members([
            "id": key.id.uuidString.lowercased().json, "name": self.name.json, "key": text.json,
        ])
        do {
            try StandardOutput.result(self.data.json ? try result.line : text)
        } catch let error as OutputError {
            // Nobody has seen it, and it is valid.
            let id = key.id.uuidString.lowercased()
            let remedy = "run it again, and remove the key that was not shown with 'martlet key remove \(id)'"
            throw SettingsError("\(error); \(remedy)")
        }
    }
}
