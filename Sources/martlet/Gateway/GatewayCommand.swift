import ArgumentParser

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Stand in for Apple: take pushes, deliver them to connected devices; or manage a gateway that runs.",
        discussion: """
            Without a subcommand it runs a gateway, with the options that 'martlet gateway run --help' shows. All other \
            subcommands talk to the admin door of one that runs on this machine.

            Example: martlet gateway app add com.example.MyApp --team DEF123GHIJ
            """,
        subcommands: [
            GatewayRunCommand.self, GatewayStatusCommand.self, GatewayAuthorityCommand.self, GatewayAppCommand.self,
            GatewayKeyCommand.self, GatewayCertificateCommand.self, GatewayDeviceCommand.self,
            GatewayTokenKeyCommand.self, GatewayEventsCommand.self, GatewayNotificationCommand.self,
            GatewayCountersCommand.self, GatewayChannelCommand.self, GatewayFeedbackCommand.self,
            GatewayFaultCommand.self,
        ],
        defaultSubcommand: GatewayRunCommand.self
    )
}
