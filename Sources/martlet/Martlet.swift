import ArgumentParser

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
                    StatusCommand.self, AppCommand.self, CredentialCommand.self, UserCommand.self,
                    AudienceCommand.self, NotificationCommand.self, ScheduleCommand.self, WebhookCommand.self,
                    TokenInvalidationCommand.self, KeyCommand.self, AuditCommand.self,
                ]
            ),
            .init(
                name: "Provider database",
                subcommands: [BackupCommand.self, CheckCommand.self, RestoreCommand.self]
            ),
        ]
    )
}
