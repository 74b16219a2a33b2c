import ArgumentParser

@main
struct Martlet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "martlet",
        abstract: "A complete Apple-push system: provider, gateway and device.",
        discussion: """
            Start with 'martlet demo': it runs all roles in one process and shows a notification on its way.

            Each setting can be given as a flag, as an environment variable (MARTLET_GATEWAY_HTTP2_PORT for \
            gateway.http2.port) or in a JSON file (--config, or martlet.json in the working directory). Flags win over \
            the environment, the environment wins over the file.
            """,
        version: "0.1.0",
        subcommands: [
            ServeCommand.self, GatewayCommand.self, DeviceCommand.self, SendCommand.self, DemoCommand.self,
        ],
        groupedSubcommands: [
            CommandGroup(
                name: "Provider",
                subcommands: [
                    StatusCommand.self, AppCommand.self, CredentialCommand.self, UserCommand.self,
                    AudienceCommand.self, NotificationCommand.self, ScheduleCommand.self, WebhookCommand.self,
                    HygieneCommand.self, KeyCommand.self, AuditCommand.self,
                ]
            ),
            CommandGroup(
                name: "Provider database",
                subcommands: [BackupCommand.self, CheckCommand.self, RestoreCommand.self]
            ),
        ]
    )
}
