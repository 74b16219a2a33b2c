import ArgumentParser
import Foundation
import ProviderAPI
import PushStore

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Bring back a provider's database from a backup; the provider must not run.",
        discussion: """
            The backup is checked, the master key tried, and the database moved to this version before anything is \
            replaced; the database that was there is kept beside it. What had not ended when the backup was made is \
            paused, because it may have been sent since: look at it, then resume or cancel it.

            Example: martlet restore /backup/martlet-2026-12-01.sqlite --data-directory /var/lib/martlet --replace
            """
    )

    @OptionGroup var data: DataDirectoryOptions

    @Argument(help: "The backup.")
    var backup: String

    @Flag(help: "Put it in the place of the database that is there.")
    var replace = false

    @Flag(help: "Go on with notifications and schedules as they were when the backup was made.")
    var noPause = false

    func run() async throws {
        let places = try await self.data.places()
        let restore = DatabaseRestore(backup: self.backup, places: places, mayReplace: self.replace)
        let outcome = try await restore.run(pausing: !self.noPause)
        for fault in outcome.faults { StandardError.line("warning: \(fault)") }
        StandardOutput.line("\(places.databasePath) is what was saved in \(self.backup)")
        if let old = outcome.old { StandardOutput.line("the database that was there is \(old)") }
        if !self.noPause {
            StandardOutput.line("paused: \(outcome.notifications) notifications, \(outcome.schedules) schedules")
        }
    }
}
