import ArgumentParser
import Foundation
import ProviderAPI
import PushStore

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Examine a provider's database or a backup: every page, every reference, every rule of the store.",
        discussion: """
            Reads the whole file and changes nothing, also while the provider runs. The status is 0 if it is sound; else \
            every fault is named. With --at-rest nothing may be under way either, as after an orderly end: no shard or \
            retry may be leased and no delivery begun.

            Example: martlet check /backup/martlet-2026-12-01.sqlite
            """
    )

    @OptionGroup var data: DataDirectoryOptions

    @Argument(help: "The file. Default: the database in the data directory.")
    var file: String?

    @Flag(help: "The provider has ended in order, so that nothing may be under way.")
    var atRest = false

    func run() async throws {
        let path: String
        var masterKey: MasterKey?
        if let file {
            path = file
        } else {
            let places = try await self.data.places()
            path = places.databasePath
            // One that is made now would open nothing.
            if FileManager.default.fileExists(atPath: places.masterKeyPath) {
                masterKey = try MasterKey.load(orCreateAt: places.masterKeyPath)
            }
        }
        let condition = try await SQLiteStoreFile(path: path).examine(isAtRest: self.atRest, masterKey: masterKey)
        try Self.expectNone(of: condition.faults, in: path)
        if condition.brokenRules == nil {
            StandardError.line("Its migrations are not those of this version: the store's own rules were left out.")
        }
        let size = Int64(condition.size).formatted(.byteCount(style: .file))
        StandardOutput.line("\(path) is sound: \(size), migration \(condition.migrations.last ?? "none")")
    }

    /// - Throws: ``SettingsError`` with everything that is wrong.
    static func expectNone(of faults: [String], in path: String) throws {
        guard faults.isEmpty else { throw SettingsError("\(path) is damaged:\n\(faults.joined(separator: "\n"))") }
    }
}
