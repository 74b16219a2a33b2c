import ArgumentParser
import Foundation
import ProviderAPI
import PushStore
import PushSupport

/// `martlet migrate`: copies a provider's whole database to another engine.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = command("migrate")
        .help("Copy a provider's whole database between SQLite and PostgreSQL; no provider must run.")
        .detail(
            """
            The former database stays as it is. An interrupted copy continues where it was when the same command is \
            repeated, and no provider starts with it before that. At the end both databases are read and compared.
            """
        )
        .detail("Files of issues, in the data directory, are not copied.")
        .example("migrate sqlite-to-postgres --data-directory /var/lib/martlet --database @/etc/martlet/database")
        .subcommands([ToPostgreSQL.self, ToSQLite.self])

    struct ToPostgreSQL: AsyncParsableCommand {
        static let configuration = command("sqlite-to-postgres")
            .help("Copy the database in the data directory to an empty schema of PostgreSQL.")
            .example("migrate sqlite-to-postgres --database postgres://martlet@db.example.com/martlet --dry-run")

        @OptionGroup var options: Options

        func run() async throws { try await self.options.run(toSQLite: false) }
    }

    struct ToSQLite: AsyncParsableCommand {
        static let configuration = command("postgres-to-sqlite")
            .help("Copy the database in PostgreSQL to a data directory that has none yet, beside its master key.")
            .example("migrate postgres-to-sqlite --data-directory /var/lib/martlet --database @/etc/martlet/database")

        @OptionGroup var options: Options

        func run() async throws { try await self.options.run(toSQLite: true) }
    }

    /// The options of both directions.
    struct Options: ParsableArguments {
        @OptionGroup var data: DataDirectoryOptions
        @OptionGroup var database: SettingFlags<DatabaseSettings>
        @Flag(help: "Read and check everything, and write nothing.") var dryRun = false
    }
}

#if PostgreSQL
extension MigrateCommand.Options {
    /// Copies the database.
    /// - Throws: ``SettingsError``, ``StoreTransferError`` or an error of a database. After an error, the former
    ///   database is unchanged, and no provider starts with the new one.
    func run(toSQLite: Bool) async throws {
        let settings = try await self.data.common.settings([self.data.storage, self.database])
        let paths = ServeSettings.Storage.configuration(settings)
        let address = try DatabaseSettings.address(settings)
        try settings.check()
        let lock = try DatabaseRestore.lock(paths)
        try Self.check(paths, isTarget: toSQLite)
        let (direction, path) = (toSQLite ? StoreTransfer.Direction.toSQLite : .toPostgreSQL, paths.databasePath)
        let key = try MasterKey.load(orCreateAt: paths.masterKeyPath)
        let transfer: StoreTransfer
        do {
            transfer = try StoreTransfer(direction, sqlite: path, postgreSQL: address, masterKey: key)
        } catch {
            throw SettingsError("database: \(error)", status: .usage)
        }
        let status = StatusLine()
        defer { status.clear() }
        let tables = try await transfer.run(isDry: self.dryRun) { step in
            let left = step.rate > 0 ? Int(Double(step.total - step.rows) / step.rate) : nil
            let text = ProgressText.of(done: step.rows, total: step.total, rate: step.rate, secondsLeft: left)
            status.show("\(step.phase.rawValue) \(step.table): \(text)")
        }
        _ = consume lock
        status.clear()
        try self.show(tables, of: transfer.targetName)
        if !toSQLite, !self.dryRun {
            let remedy = "move it away, so that no provider sends from it too"
            StandardError.line("\(path) is unchanged: \(remedy).")
        }
    }

    /// Checks the files of the data directory.
    /// - Throws: ``SettingsError`` if one is missing or left over.
    private static func check(_ paths: ProviderConfiguration, isTarget: Bool) throws {
        let (path, files) = (paths.databasePath, FileManager.default)
        guard files.fileExists(atPath: paths.masterKeyPath) else {
            throw SettingsError("there is no master key at \(paths.masterKeyPath): bring it there first")
        }
        guard !files.fileExists(atPath: paths.replacementMarker) else {
            throw SettingsError("a restore of \(path) was interrupted: repeat it first")
        }
        guard !files.fileExists(atPath: path) else { return }
        guard isTarget else { throw SettingsError("there is no database at \(path)") }
        // SQLite would apply a log to the new database.
        if DatabaseReplacement(paths: paths).hasOldFiles {
            throw SettingsError("the log of another database is beside \(path): move it away first")
        }
    }

    /// Prints the tables.
    /// - Throws: ``SettingsError`` if they are not equal.
    private func show(_ tables: [StoreTransfer.Table], of target: String) throws {
        func json(_ sum: TableSum?) -> JSONValue? {
            sum.map { ["rows": $0.rows.json, "checksum": String($0.checksum, radix: 16).json] }
        }
        let rows = tables.map { table in
            JSONValue.members(["table": table.name.json, "source": json(table.source), "copy": json(table.target)])
        }
        let different = tables.filter { !$0.isEqual }.map(\.name)
        let total = tables.reduce(0) { $0 + $1.source.rows }
        if self.data.json {
            let result: JSONValue = .members([
                "database": target.json, "rows": total.json, "tables": .array(rows),
                "different": .array(different.map(\.json)),
            ])
            try StandardOutput.result(try result.line)
        } else {
            let source: TextTable = ["table", .init("rows", "source.rows"), .init("checksum", "source.checksum")]
            let copy: TextTable = [.init("rows of the copy", "copy.rows"), .init("checksum", "copy.checksum")]
            try StandardOutput.result((self.dryRun ? source : source + copy).text(of: rows))
            if different.isEmpty {
                let end = self.dryRun ? "can be copied to" : "are copied, and equal in"
                try StandardOutput.result("\(total) rows \(end) \(target)")
            }
        }
        guard different.isEmpty else {
            let names = different.joined(separator: ", ")
            let remedy = "no provider starts with it: remove it, and begin again"
            throw SettingsError("\(target) differs from its source in \(names); \(remedy)")
        }
    }
}
#else
extension MigrateCommand.Options {
    /// Throws an error that names the remedy.
    /// - Throws: ``SettingsError``.
    func run(toSQLite: Bool) async throws {
        throw SettingsError(
            """
            this program was built without PostgreSQL: build it with 'swift build -c release --traits \
            Server,PostgreSQL', for which libpq-dev has to be installed
            """
        )
    }
}
#endif
