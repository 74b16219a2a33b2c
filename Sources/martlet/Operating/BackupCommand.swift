import ArgumentParser
import Foundation
import PushServer

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy a provider's database to a file, also while the provider runs.",
        discussion: """
            The copy is what was committed when it began; it is checked before it gets its name. The master key is not \
            in it: keep a copy of that elsewhere, once.

            Example: martlet backup --data-directory /var/lib/martlet --to /backup/martlet-$(date +%F).sqlite
            """
    )

    @OptionGroup var data: DataDirectoryOptions

    @Option(help: "The file; one that is there stays.")
    var to: String

    @Flag(help: "Leave out the check of the copy.")
    var noCheck = false

    func run() async throws {
        let source = try await self.data.places().databasePath
        guard !FileManager.default.fileExists(atPath: self.to) else {
            throw SettingsError("\(self.to) is there already: move it away or name another file")
        }
        let partial = "\(self.to).partial"
        // What an earlier try left behind.
        try? FileManager.default.removeItem(atPath: partial)
        let copy = DatabaseFile(path: partial)
        try DatabaseFile(path: source).copy(to: partial)
        if !self.noCheck { try CheckCommand.expectSound(try copy.condition(), partial) }
        do {
            try FileManager.default.moveItem(atPath: partial, toPath: self.to)
        } catch {
            throw SettingsError("\(self.to) cannot be written: \(error.localizedDescription)")
        }
        StandardOutput.line("\(source) is saved in \(self.to)")
        StandardError.line("The master key is not in it: it is needed to restore.")
    }
}
