import ArgumentParser
import Foundation
import PushServer

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Examine a provider's database or a backup: every page, every reference.",
        discussion: """
            Reads the whole file and changes nothing, also while the provider runs. The status is 0 if it is sound.

            Example: martlet check /backup/martlet-2026-12-01.sqlite
            """
    )

    @OptionGroup var data: DataDirectoryOptions

    @Argument(help: "The file. Default: the database in the data directory.")
    var file: String?

    func run() async throws {
        let path: String
        if let file { path = file } else { path = try await self.data.places().databasePath }
        let condition = try DatabaseFile(path: path).condition()
        try Self.expectSound(condition, path)
        let size = Int64(condition.size).formatted(.byteCount(style: .file))
        StandardOutput.line("\(path) is sound: \(size), migration \(condition.migrations.last ?? "none")")
    }

    /// - Throws: ``SettingsError`` with everything that is wrong.
    static func expectSound(_ condition: DatabaseFile.Condition, _ path: String) throws {
        guard condition.faults.isEmpty else {
            throw SettingsError("\(path) is damaged:\n\(condition.faults.joined(separator: "\n"))")
        }
    }
}
