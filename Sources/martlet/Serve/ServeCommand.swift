import ArgumentParser
import ProviderAPI
import PushBridges
import PushProvider
import PushWire

/// `martlet serve`: runs a provider.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = command("serve")
        .help("Run the provider: keep devices, take notifications over a REST API and send them.")
        .detail("The first start prints an admin API key, once, or writes it to --admin-key-file.")
        .detail(
            """
            Until there is a person, every start prints a link with which the first person chooses a name and a \
            password, or writes it beside that file, with the ending .link.
            """
        )
        .detail(
            """
            Without other settings, notifications go to Apple; for a Martlet gateway give --sandbox-service \
            localhost:2197 and its authority.pem as --service-authority.
            """
        )
        .detail("Ends on Ctrl-C, when the pages in flight have been sent.")
        .detail("'martlet help settings serve' lists all settings.")
        .example("serve --data-directory /var/lib/martlet --admin-key-file admin.key --production-service apple")
        .example("serve --sandbox-service localhost:2197 --service-authority martlet-data/gateway/authority.pem")

    @OptionGroup var common: CommonOptions
    @OptionGroup var storage: SettingFlags<ServeSettings.Storage>
    @OptionGroup var database: SettingFlags<DatabaseSettings>
    @OptionGroup var general: SettingFlags<ServeSettings.General>
    @OptionGroup(title: "Limits") var limits: SettingFlags<ServeSettings.Limits>
    @OptionGroup(title: "Breaker against mass deactivation of tokens") var breaker: SettingFlags<ServeSettings.Breaker>
    @OptionGroup(title: "Publishing") var publishing: SettingFlags<ServeSettings.Publishing>
    @OptionGroup(title: "Entitlement to retail issues") var entitlement: SettingFlags<ServeSettings.Entitlement>
    @OptionGroup(title: "Forms of older systems") var compatibility: SettingFlags<ServeSettings.Compatibility>
    @OptionGroup(title: "Legacy push services") var legacy: SettingFlags<ServeSettings.Legacy>
    @OptionGroup(title: "Listeners for old providers") var bridge: SettingFlags<ServeSettings.Bridge>

    func run() async throws {
        let settings = try await self.common.settings([
            self.storage, self.database, self.general, self.limits, self.breaker, self.publishing, self.entitlement,
            self.compatibility, self.legacy, self.bridge,
        ])
        let configuration = try Self.configuration(settings)
        let services = try PushServices(settings)
        let bridges = BridgesConfiguration(
            binary: try ServeSettings.Bridge.configuration(settings),
            chatAuthorities: try ServeSettings.General.chatAuthorities(settings)
        )
        let log = LogConfiguration(settings)
        try settings.check()
        let run = ProviderRun(configuration: configuration, services: services, bridges: bridges, log: log)
        try await run.run(settings)
    }

    /// Creates the configuration from the settings. The caller must then call ``SettingsReader/check()``.
    /// - Throws: ``SettingsError`` for settings that contradict each other.
    static func configuration(_ settings: SettingsReader) throws -> ProviderConfiguration {
        var configuration = ServeSettings.Storage.configuration(settings)
        try DatabaseSettings.apply(settings, to: &configuration)
        ServeSettings.General.apply(settings, to: &configuration)
        if let address = configuration.publicOrigin, WebOrigin(address)?.description != address.lowercased() {
            let message = "serve.publicAddress: write the scheme and the host, such as https://push.example.org"
            throw SettingsError(message, status: .usage)
        }
        configuration.tls = try ServeSettings.General.tls(settings)
        configuration.gatewayEvents = ServeSettings.General.gateway(settings)
        ServeSettings.Limits.apply(settings, to: &configuration)
        ServeSettings.Breaker.apply(settings, to: &configuration)
        ServeSettings.Publishing.apply(settings, to: &configuration)
        // A number out of its range would be reported as the nearest one in the range.
        if !settings.hasErrors { try ServeSettings.Breaker.check(configuration.breaker) }
        ServeSettings.Entitlement.apply(settings, to: &configuration)
        configuration.entitlement.roots = try ServeSettings.Entitlement.roots(settings)
        configuration.compatibility = try ServeSettings.Compatibility.configuration(settings)
        return configuration
    }
}
