import ArgumentParser
import Foundation
import Logging
import PushSupport

/// `martlet demo`: runs all roles in one process.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = command("demo")
        .help("Run gateway, provider and a phone in one process and follow one notification to its screen.")
        .detail(
            """
            Everything listens on free ports of 127.0.0.1 and is kept in a temporary directory that is removed at the \
            end. Without --exit the demo keeps running and prints commands to try next; Ctrl-C ends it.
            """
        )
        .detail("With --publisher it follows an issue instead: from its upload through Notify to its readers' mark.")
        .example("demo --exit")
        .example("demo --publisher --exit")

    @OptionGroup var common: CommonOptions
    @Flag(help: "End after the first notification, with status 0.") var exit = false
    @Flag(help: "Show a publisher's issue and its readers.") var publisher = false

    func run() async throws {
        let settings = try await self.common.settings()
        let log = LogConfiguration(settings, defaultLevel: .error)
        try settings.check()
        let directory = FileManager.default.temporaryDirectory.appending(path: "martlet-demo-\(UUID().uuidString)").path
        guard DurableFile.makePrivateFolder(directory) else { throw SettingsError("\(directory) cannot be made") }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = settings.file.map { "; settings file \($0) is used for the log only" } ?? ""
        StandardOutput.line("Pushes go to the demo's own gateway, nothing goes to Apple. Data: \(directory)\(file)")
        let roles = DemoRoles(logger: log.logger("demo"))
        let demo = DemoRun(
            directory: directory,
            story: self.publisher ? .publisher : .notification,
            endsAfterDelivery: self.exit,
            roles: roles,
            log: log
        )
        try await ServiceRunner.run([roles], until: demo, logger: log.logger("martlet"))
    }
}
