import ArgumentParser
import BuildInformation
import PushSupport

/// The command `martlet`.
@main
struct Martlet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "A complete Apple-push system: provider, gateway and device.",
        discussion: """
            Start with 'martlet demo': it runs all roles in one process and shows a notification on its way.

            Each setting can be given as a flag, as an environment variable (MARTLET_SERVE_DATA_DIRECTORY for \
            serve.dataDirectory) or in a JSON file (--config, or martlet.json in the working directory). Flags win over \
            the environment, the environment wins over the file. 'martlet help settings' lists all of them.
            """,
        version: Version.text,
        subcommands: [
            ServeCommand.self, GatewayCommand.self, DeviceCommand.self, SendCommand.self, DemoCommand.self,
            HelpCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Provider",
                subcommands: [
                    StatusCommand.self, AppCommand.self, CredentialCommand.self, UserCommand.self, AudienceCommand.self,
                    NotificationCommand.self, ScheduleCommand.self, WebhookCommand.self, TokenInvalidationCommand.self,
                    KeyCommand.self, AuditCommand.self,
                ]
            ),
            .init(
                name: "Provider database",
                subcommands: [BackupCommand.self, CheckCommand.self, RestoreCommand.self]
            ),
        ]
    )
}

/// The version of the program.
enum Version {
    /// The version, and the commit if the build knew it, such as `0.1.0 (1a2b3c4d5)`.
    static let text: String = {
        let commit = String(cString: martlet_build_commit())
        return commit.isEmpty ? MartletVersion.number : "\(MartletVersion.number) (\(commit))"
    }()
}
