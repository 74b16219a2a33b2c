import AppSimulator
import ArgumentParser
import Logging
import PushDevice

/// `martlet simulator`: runs a phone with an app.
struct SimulatorCommand: AsyncParsableCommand {
    static let configuration = command("simulator")
        .help(
            "Simulate an app on a phone: it registers itself, shows what its user would see, and takes the user's actions."
        )
        .detail(
            """
            The app is made of MartletKit, the library that apps embed, and its phone is a device of a gateway. It prints \
            each notification as the lock screen has it, the screens that open and what happens in the background, and \
            sends receipts.
            """
        )
        .detail("Commands such as 'open' come from the arguments after --, from a script, or from standard input.")
        .detail("'help' there lists them. A script ends with the first command that fails.")
        .example("simulator --app com.example.MyApp --public-key mk_public_…")
        .example("simulator --app com.example.MyApp --public-key mk_public_… -- 'wait shown' open quit")

    @OptionGroup var common: CommonOptions
    @OptionGroup var app: SettingFlags<AppSettings>
    @OptionGroup var flags: SettingFlags<SimulatorSettings>
    @OptionGroup var admin: SettingFlags<GatewaySettings.Admin>
    @OptionGroup var console: ConsoleOptions

    func run() async throws {
        let input: [PhoneCommand]? = try self.console.input()
        let settings = try await self.common.settings([self.app, self.flags, self.admin])
        let admin = GatewaySettings.Admin.url(settings)
        // The device logs a warning if the push service cannot be reached.
        let log = LogConfiguration(settings, defaultLevel: .warning)
        let configuration = try SimulatorSettings.configuration(settings)
        let printer = self.console.printer
        let simulator = try await Self.simulator(
            configuration,
            directory: settings.text(SimulatorSettings.phone.directory),
            gateway: try APIClient(baseURL: admin, role: .gateway, proxy: configuration.device.proxy),
            logger: log.logger("device")
        ) { printer.print($0) }
        let console = SimulatorConsole(simulator: simulator, input: input, printer: printer)
        try await ServiceRunner.run([simulator], until: console, logger: log.logger("martlet"))
    }

    /// Creates a simulator with the state in the folder `directory`. If the folder is empty, a new device is activated.
    /// - Parameters:
    ///   - gateway: A client of the gateway's admin API.
    ///   - print: A closure that receives each event.
    static func simulator(
        _ configuration: SimulatorConfiguration,
        directory: String,
        gateway: APIClient,
        logger: Logger,
        print: @escaping @Sendable (SimulatorEvent) -> Void
    ) async throws -> Simulator {
        do {
            let folder = try PhoneFolder(directory)
            let file = IdentityFile(path: folder.identityFile)
            let activation = DeviceActivation(adminURL: gateway.baseURL, proxy: configuration.device.proxy)
            let identity = try await file.loadOrCreate { try await activation.activate(name: "Martlet simulator") }
            let services = PhoneServices { identity in
                try file.save(identity)
            } removeApp: { identity, topic in
                try await gateway.send(APIRequest(.delete, ["devices", identity.deviceID, "topics", topic]))
            }
            return try Simulator(
                configuration,
                folder: folder,
                identity: identity,
                services: services,
                logger: logger,
                print: print
            )
        } catch let error as PhoneError {
            throw SettingsError("\(error)")
        }
    }
}
