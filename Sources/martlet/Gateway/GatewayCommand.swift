import ArgumentParser
import Logging
import PushGateway
import PushSupport

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

/// The options of every command that manages a running gateway.
struct AdminOptions: APIAccess {
    @OptionGroup var common: CommonOptions
    @OptionGroup var admin: SettingFlags<GatewaySettings.Admin>
    @Flag(help: "Print the response as JSON.") var json = false

    /// Returns the connection to the gateway's admin API, for which no key is required.
    func connection() async throws -> APIConnection {
        let settings = try await self.common.settings([self.admin])
        let url = GatewaySettings.Admin.url(settings)
        try settings.check()
        return APIConnection(client: try APIClient(baseURL: url, role: .gateway), cursor: "after")
    }
}

/// A kind of record in a gateway's admin API.
protocol GatewayResource: Resource where Access == AdminOptions {}

/// `martlet gateway run`: runs a gateway.
struct GatewayRunCommand: AsyncParsableCommand {
    static let configuration = command("run", "Run a gateway.")
        .detail("The first start makes an authority, certificates and a token key in the data directory.")
        .detail("Providers have to trust the authority.pem there.")
        .detail("Apps, keys and devices are managed over the admin API. Ends on Ctrl-C.")
        .detail("'martlet help settings gateway' lists all settings.")
        .example("gateway --environment sandbox --fault reason=TooManyRequests,percent=20")

    @OptionGroup var common: CommonOptions
    @OptionGroup var general: SettingFlags<GatewaySettings.General>
    @OptionGroup(title: "Listeners") var listeners: SettingFlags<GatewaySettings.Listeners>
    @OptionGroup(title: "Listeners") var freePorts: FreePortsOption
    @OptionGroup(title: "Behaviour") var behaviour: SettingFlags<GatewaySettings.Behaviour>
    @OptionGroup(title: "Admission") var admission: SettingFlags<GatewaySettings.UnauthenticatedConnections>

    func run() async throws {
        let settings = try await self.common.settings([self.general, self.listeners, self.behaviour, self.admission])
        let configuration = Self.configuration(settings, freePorts: self.freePorts.port != nil)
        let log = LogConfiguration(settings)
        try settings.check()

        let logger = log.logger("martlet")
        StartLine.log(to: logger, "gateway starts", data: configuration.dataDirectory, settings)
        OpenFileLimit.raise()
        let gateway = try Gateway(configuration: configuration, time: SystemTime(), logger: log.logger("gateway"))
        try await ServiceRunner.run([gateway], ready: { _ = try await gateway.addresses() }, logger: logger)
    }

    /// Creates the configuration from the settings. The caller must then call ``SettingsReader/check()``.
    /// - Parameter freePorts: Pass `true` to use free ports where no setting specifies one.
    static func configuration(_ settings: SettingsReader, freePorts: Bool = false) -> GatewayConfiguration {
        var configuration = GatewayConfiguration.defaults
        GatewaySettings.General.apply(settings, to: &configuration)
        GatewaySettings.Listeners.apply(settings, freePorts: freePorts, to: &configuration)
        GatewaySettings.UnauthenticatedConnections.apply(settings, to: &configuration)
        GatewaySettings.Behaviour.apply(settings, to: &configuration)
        // Single rules override those of `gateway.strict`.
        GatewaySettings.Rules.apply(settings, to: &configuration)
        return configuration
    }
}

/// `martlet gateway status`: shows the state of a gateway and its environments.
struct GatewayStatusCommand: RequestCommand {
    static let configuration = command("status", "Show whether a gateway runs, its listeners, and how much it holds.")
        .example("gateway status --json")

    private static let columns: TextTable = [
        .init("gateway", "status"), .init("data directory", "dataDirectory"), "admin", "devices", "events",
    ]
    private static let environments: TextTable = [
        "environment", .init("online", "devicesOnline"), "unacknowledged", "stored", .init("listeners", "doors"),
    ]

    @OptionGroup var access: AdminOptions

    func request() -> APIRequest { .get("status") }

    func text(of status: JSONValue) -> String {
        "\(Self.columns.details(of: status))\n\n\(Self.environments.text(of: status["environments"].elements))"
    }
}

/// `martlet gateway counters`: shows how often each kind of event has occurred.
struct GatewayCountersCommand: RequestCommand {
    static let configuration = command("counters")
        .help("Show how often each event has happened since the gateway was started, in Apple's words.")
        .example("gateway counters")

    @OptionGroup var access: AdminOptions

    func request() -> APIRequest { .get("counters") }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = ["environment", "event", "count"]
        return columns.text(of: response["counters"].elements.filter { $0["count"] != .integer(0) })
    }
}
