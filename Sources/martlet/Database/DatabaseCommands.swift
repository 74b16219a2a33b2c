import ArgumentParser
import Foundation
import ProviderAPI
import PushProvider
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
        // A copy that breaks rules of the store is better than none.
        for fault in condition?.brokenRules ?? [] { StandardError.line("warning: \(fault)") }
        let result: JSONValue = .members([
            "database": source.json, "backup": self.to.json, "warnings": .texts(condition?.brokenRules ?? []),
        ])
        try StandardOutput.result(self.data.json ? try result.line : "\(source) is saved in \(self.to)")
        StandardError.line("The master key is not in it: it is needed to restore.")
    }
}

/// `martlet check`: examines a provider's database or a backup.
struct CheckCommand: AsyncParsableCommand {
    static let configuration = command("check")
        .help("Check a provider's database or a backup: every page, every reference, every rule of the store.")
        .detail("Reads the whole file and changes nothing, even while the provider runs.")
        .detail("The status is 0 if it is sound; otherwise every fault is named.")
        .detail("For the database in the data directory it also looks for the files of issues.")
        .detail(
            """
            With --at-rest, nothing may be in flight either, as after a graceful shutdown: no shard or retry may be \
            leased and no delivery started.
            """
        )
        .example("check /backup/martlet-2026-12-01.sqlite")

    @OptionGroup var data: DataDirectoryOptions
    @Argument(help: "The file. Default: the database in the data directory.") var file: String?
    @Flag(help: "The provider has shut down gracefully, so nothing may be in flight.") var atRest = false

    func run() async throws {
        let path: String
        var folder: FileFolder?
        var masterKey: MasterKey?
        if let file {
            path = try InputFile.file(file)
        } else {
            let paths = try await self.data.paths()
            path = paths.databasePath
            folder = FileFolder(path: paths.filesPath)
            // A newly generated key could decrypt nothing.
            if FileManager.default.fileExists(atPath: paths.masterKeyPath) {
                masterKey = try MasterKey.load(orCreateAt: paths.masterKeyPath)
            }
        }
        let condition = try await SQLiteStoreFile(path: path).examine(isAtRest: self.atRest, masterKey: masterKey)
        var missing: String?
        if let folder { missing = try await Self.missingFiles(of: path, in: folder) }
        if self.data.json {
            let result: JSONValue = .members([
                "database": path.json, "bytes": condition.size.json, "migration": condition.migrations.last?.json,
                "faults": .array((condition.faults + [missing].compactMap(\.self)).map(\.json)),
            ])
            try StandardOutput.result(try result.line)
            if !condition.faults.isEmpty || missing != nil { throw ExitCode.failure }
            return
        }
        try Self.expectNone(of: condition.faults, in: path)
        if let missing { throw SettingsError("\(path) is sound, but \(missing)\n\(MissingFilesText.remedy)") }
        if condition.brokenRules == nil {
            StandardError.line("Its migrations are not those of this version: the store's own rules were not checked.")
        }
        let size = Int64(condition.size).formatted(.byteCount(style: .file))
        try StandardOutput.result("\(path) is sound: \(size), migration \(condition.migrations.last ?? "none")")
    }

    /// Returns the description of the issue files that are missing, or `nil` if none is missing.
    /// - Throws: An error if the database cannot be read.
    static func missingFiles(of path: String, in folder: FileFolder) async throws -> String? {
        let missing = folder.missing(of: try await SQLiteStoreFile(path: path).usedFiles())
        return missing.isEmpty ? nil : MissingFilesText.text(missing, in: folder)
    }

    /// Throws an error if a check of a database has found faults.
    /// - Throws: ``SettingsError`` that lists all faults.
    static func expectNone(of faults: [String], in path: String) throws {
        guard faults.isEmpty else { throw SettingsError("\(path) is damaged:\n\(faults.joined(separator: "\n"))") }
    }
}

/// The options for the location of a provider's data, which are the same as those of `martlet serve`.
struct DataDirectoryOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions
    @OptionGroup var storage: SettingFlags<ServeSettings.Storage>
    @Flag(help: "Print the result as JSON.") var json = false

    /// Returns the paths that `martlet serve` would use with the same settings.
    func paths() async throws -> ProviderConfiguration {
        let settings = try await self.common.settings([self.storage])
        let paths = ServeSettings.Storage.configuration(settings)
        try settings.check()
        return paths
    }
}
