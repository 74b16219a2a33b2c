import ArgumentParser
import Foundation
import ProviderAPI
import PushStore
import PushSupport

/// `martlet restore`: brings back a provider's database from a backup.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = command("restore")
        .help("Restore a provider's database from a backup; the provider must not run.")
        .detail(
            """
            The backup is checked, the master key tried, and the database migrated to this version before anything is \
            replaced; the previous database is kept beside it.
            """
        )
        .detail(
            """
            Notifications and schedules that had not ended when the backup was made are paused, because they may have \
            been sent since: look at each, then resume or cancel it.
            """
        )
        .example("restore /backup/martlet-2026-12-01.sqlite --data-directory /var/lib/martlet --replace")

    @OptionGroup var data: DataDirectoryOptions
    @Argument(help: "The backup.") var backup: String
    @Flag(help: "Replace an existing database.") var replace = false
    @Flag(help: "Continue with notifications and schedules as they were when the backup was made.") var noPause = false

    func run() async throws {
        let paths = try await self.data.paths()
        let restore = DatabaseRestore(backup: try InputFile.file(self.backup), paths: paths, mayReplace: self.replace)
        let result = try await restore.run(pausing: !self.noPause)
        for fault in result.faults { StandardError.line("warning: \(fault)") }
        if self.data.json {
            let summary: JSONValue = .members([
                "database": paths.databasePath.json, "backup": self.backup.json, "previous": result.old?.json,
                "pausedNotifications": self.noPause ? nil : result.notifications.json,
                "pausedSchedules": self.noPause ? nil : result.schedules.json, "warnings": .texts(result.faults),
            ])
            return try StandardOutput.result(try summary.line)
        }
        try StandardOutput.result("\(paths.databasePath) is restored from \(self.backup)")
        if let old = result.old { try StandardOutput.result("the previous database is \(old)") }
        if !self.noPause {
            try StandardOutput.result("paused: \(result.notifications) notifications, \(result.schedules) schedules")
        }
    }
}
