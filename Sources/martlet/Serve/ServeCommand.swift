import ArgumentParser
import Dashboard
import Logging
import Metrics
import ProviderAPI
import PushBridges
import PushHTTP
import PushProvider
import PushSender

/// `martlet serve`: runs a provider.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = command("serve")
        .help("Run the provider: keep devices, take notifications over a REST API, send them.")
        .detail("The first start prints an admin API key, once, or writes it to --admin-key-file.")
        .detail(
            """
            Until there is a person, every start prints a link with which the first person chooses a name and a \
            password, or writes it beside that file, with the ending .link.
            """
        )
        .detail(
            """
            Without other settings notifications go to Apple; for a Martlet gateway give --sandbox-service \
            localhost:2197 and its authority.pem as --service-authority.
            """
        )
        .detail("Ends on Ctrl-C, when the pages in flight have been sent.")
        .detail("'martlet help settings serve' lists all settings.")
        .example("serve --data-directory /var/lib/martlet --admin-key-file admin.key --production-service apple")
        .example(
            "serve --sandbox-service localhost:2197 --service-authority martlet-data/gateway/authority.pem"
        )

    /// The longest time that a push waits for a connection. It is shorter than a graceful shutdown may take; the
    /// dispatcher tries again in any case.
    private static let sendTimeout: Duration = .seconds(10)

    @OptionGroup var common: CommonOptions
    @OptionGroup var storage: SettingFlags<ServeSettings.Storage>
    @OptionGroup var general: SettingFlags<ServeSettings.General>
    @OptionGroup(title: "Limits") var limits: SettingFlags<ServeSettings.Limits>
    @OptionGroup(title: "Breaker against mass deactivation of tokens") var breaker: SettingFlags<ServeSettings.Breaker>
    @OptionGroup(title: "Publishing") var publishing: SettingFlags<ServeSettings.Publishing>
    @OptionGroup(title: "Entitlement to retail issues") var entitlement: SettingFlags<ServeSettings.Entitlement>
    @OptionGroup(title: "Forms of older systems") var compatibility: SettingFlags<ServeSettings.Compatibility>

    func run() async throws {
        let settings = try await self.common.settings([
            self.storage, self.general, self.limits, self.breaker, self.publishing, self.entitlement,
            self.compatibility,
        ])
        let configuration = try Self.configuration(settings)
        let services = try PushServices(settings)
        let log = LogConfiguration(settings)
        try settings.check()
        let logger = log.logger("martlet")
        services.log(to: logger)
        StartLine.log(to: logger, "provider starts", data: configuration.dataDirectory, settings)

        var sending = SenderConfiguration()
        sending.waitTimeout = Self.sendTimeout
        sending.proxy = services.proxy
        let metrics = PrometheusRegistry(ProviderServer.metricDescriptions)
        MetricsSystem.bootstrap(metrics)
        let pool = try SenderPool(endpoints: services.endpoints, configuration: sending, logger: log.logger("sender"))
        let server = try await ProviderServer(
            configuration: configuration,
            senders: pool,
            metrics: metrics,
            addition: { Bridges($0) },
            pages: { configuration.isAPIOnly ? nil : try Dashboard($0) },
            showAdminKey: { [file = configuration.adminKeyFile] key in
                if let file {
                    StandardOutput.line("the first admin key is in \(file): take it from there and remove the file")
                } else {
                    StandardOutput.line("admin API key (shown only now, keep it safe): \(key)")
                }
            },
            showAdminLink: { [file = configuration.adminLinkFile] link in
                if let file {
                    StandardOutput.line("the link for the first person is in \(file), for one day")
                } else {
                    StandardOutput.line("make the first person here, within one day: \(link)")
                }
            },
            logger: log.logger("provider")
        )
        try await ServiceRunner.run([pool, server], ready: { _ = try await server.port() }, logger: logger)
    }

    /// Returns the configuration that the settings describe; ``SettingsReader/check()`` comes after that.
    /// - Throws: ``SettingsError`` for settings that contradict each other.
    static func configuration(_ settings: SettingsReader) throws -> ProviderConfiguration {
        var configuration = ServeSettings.Storage.configuration(settings)
        ServeSettings.General.apply(settings, to: &configuration)
        configuration.tls = try ServeSettings.General.tls(settings)
        configuration.gatewayEvents = ServeSettings.General.gateway(settings)
        configuration.chatAuthorities = try ServeSettings.General.chatAuthorities(settings)
        ServeSettings.Limits.apply(settings, to: &configuration)
        ServeSettings.Breaker.apply(settings, to: &configuration)
        ServeSettings.Publishing.apply(settings, to: &configuration)
        // A number out of its range would be reported as its nearest one.
        if !settings.hasErrors { try ServeSettings.Breaker.check(configuration.breaker) }
        ServeSettings.Entitlement.apply(settings, to: &configuration)
        configuration.entitlement.roots = try ServeSettings.Entitlement.roots(settings)
        configuration.compatibility = try ServeSettings.Compatibility.configuration(settings)
        return configuration
    }
}
