import ArgumentParser
import Foundation
import PushSupport

@main
struct MartletCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "A complete Apple-push system: provider, gateway and device.",
        discussion: """
            Start with 'martlet demo', which runs all roles in one process and shows a notification on its way.

            Each setting can be given as a flag, as an environment variable (MARTLET_SERVE_DATA_DIRECTORY for \
            serve.dataDirectory) or in a JSON file (--config, or martlet.json in the working directory). Flags win over \
            the environment, and the environment wins over the file. 'martlet help settings' lists all of them.
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, BridgeCommand.self, GatewayCommand.self, DeviceCommand.self, SimulatorCommand.self,
            ReaderCommand.self,
            SendCommand.self, DemoCommand.self,
            HelpCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Provider",
                subcommands: [
                    StatusCommand.self, OverviewCommand.self, StatisticsCommand.self, SystemCommand.self,
                    AppCommand.self, CredentialCommand.self, UserCommand.self, AudienceCommand.self,
                    TemplateCommand.self,
                    NotificationCommand.self, ChannelCommand.self, BroadcastCommand.self, TimelineCommand.self,
                    ScheduleCommand.self, WebhookCommand.self,
                    PublicationCommand.self, IssueCommand.self, EntitlementCommand.self,
                    TokenInvalidationCommand.self,
                    KeyCommand.self, PersonCommand.self, AuditCommand.self,
                ]
            ),
            .init(
                name: "Provider database",
                subcommands: [
                    BackupCommand.self, CheckCommand.self, RestoreCommand.self, ResetSecretsCommand.self,
                    ResetAdminKeyCommand.self, MigrateCommand.self,
                ]
            ),
        ]
    )

    /// Runs the command that the command line specifies, and exits with its status, or that of its error.
    static func main() async {
        let (words, warnings) = FormerSpelling.translated(Array(CommandLine.arguments.dropFirst()))
        for warning in warnings { StandardError.line("warning: \(warning)") }
        do {
            try await Self.run(words)
        } catch let error as OutputError where error.isClosedPipe {
            Self.exit(withError: ExitCode.failure)
        } catch let error as any StatusError {
            StandardError.line("Error: \(error)")
            Self.exit(withError: ExitCode(error.status.rawValue))
        } catch let error as CocoaError {
            StandardError.line("Error: \(ErrorDescription.of(error))")
            Self.exit(withError: ExitCode.failure)
        } catch {
            Self.exit(withError: error)
        }
    }

    static func run(_ words: [String]) async throws {
        var command = try await Self.asyncParseAsRoot(words)
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }
}
