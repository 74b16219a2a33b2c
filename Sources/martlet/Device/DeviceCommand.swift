import ArgumentParser

/// `martlet device`: is a device, or manages the devices of a provider.
struct DeviceCommand: AsyncParsableCommand {
    static let configuration = command("device")
        .help("Run a device that connects to a gateway and prints notifications; or manage a provider's devices.")
        .detail("Without a subcommand it runs a device, with the options that 'martlet device run --help' shows.")
        .detail("All other subcommands talk to a running provider about the devices that are registered there.")
        .example("device list --app com.example.MyApp --user alice")
        .subcommands([
            DeviceRunCommand.self, ListResources<RegisteredDevice>.self, ShowResource<RegisteredDevice>.self,
            DeviceAddCommand.self, DeviceRemoveCommand.self, ShowHistory<RegisteredDevice>.self,
            DeviceImportCommand.self, DeviceExportCommand.self, DeviceReactivateCommand.self,
        ])
        .defaultSubcommand(DeviceRunCommand.self)
}
