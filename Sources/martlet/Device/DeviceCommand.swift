import ArgumentParser

struct DeviceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "device",
        abstract:
            "Be a device: activate, connect to a gateway, print each notification; or manage a provider's devices.",
        discussion: """
            Without a subcommand it is a device, with the options that 'martlet device run --help' shows. All other \
            subcommands talk to a running provider about the devices that are registered there.

            Example: martlet device list --app com.example.MyApp --user alice
            """,
        subcommands: [
            DeviceRunCommand.self, DeviceListCommand.self, DeviceShowCommand.self, DeviceAddCommand.self,
            DeviceRemoveCommand.self, DeviceHistoryCommand.self, DeviceImportCommand.self, DeviceExportCommand.self,
        ],
        defaultSubcommand: DeviceRunCommand.self
    )
}
