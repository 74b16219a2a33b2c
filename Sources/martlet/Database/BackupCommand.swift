import ArgumentParser
import ProviderAPI
import PushStore
import PushSupport

/// `martlet backup`: copies a provider's database.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = command("backup", "Copy a provider's database to a file, even while the provider runs.")
        .detail("The copy has what was committed when it began; a damaged copy does not get the name.")
        .detail("The master key is not in it: keep a copy of the key elsewhere.")
        .example("backup --data-directory /var/lib/martlet --to /backup/martlet-$(date +%F).sqlite")

    @OptionGroup var data: DataDirectoryOptions
    @Option(help: "The file; an existing one is not overwritten.") var to: String
    @Flag(help: "Leave out the check of the copy.") var noCheck = false

    func run() async throws {
        let source = try await self.data.paths().databasePath
        let condition = try await SQLiteStoreFile(path: source).copy(to: self.to, isExamined: !self.noCheck)
        // A copy with broken rules is better than none.
        for fault in condition?.brokenRules ?? [] { StandardError.line("warning: \(fault)") }
        let result: JSONValue = .members([
            "database": source.json, "backup": self.to.json, "warnings": .texts(condition?.brokenRules ?? []),
        ])
        try StandardOutput.result(self.data.json ? try result.line : "\(source) is saved in \(self.to)")
        StandardError.line("The master key is not in it: it is needed to restore.")
    }
}
