import ArgumentParser

/// `martlet gateway`: runs a gateway, or manages a running one.
struct GatewayCommand: AsyncParsableCommand {
    static let configuration = command("gateway")
        .help("Stand in for Apple: take pushes and deliver them to connected devices; or manage a running gateway.")
        .detail("Without a subcommand it runs a gateway, with the options that 'martlet gateway run --help' shows.")
        .detail("All other subcommands use the admin API of a gateway that runs on this machine.")
        .example("gateway app add com.example.MyApp --team DEF123GHIJ")
        .subcommands([
            GatewayRunCommand.self, GatewayStatusCommand.self, GatewayAuthorityCommand.self, GatewayAppCommand.self,
            GatewayKeyCommand.self, GatewayCertificateCommand.self, GatewayDeviceCommand.self,
            GatewayTokenKeyCommand.self, GatewayEventsCommand.self, GatewayNotificationCommand.self,
            GatewayCountersCommand.self, GatewayChannelCommand.self, GatewayFeedbackCommand.self,
            GatewayFaultCommand.self,
        ])
        .defaultSubcommand(GatewayRunCommand.self)
}
