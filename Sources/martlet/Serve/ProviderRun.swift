import Dashboard
import Logging
import Metrics
import ProviderAPI
import PushBridges
import PushHTTP
import PushSender
import PushSupport

/// Runs a provider in the foreground, for `martlet serve` and `martlet bridge`.
struct ProviderRun {
    /// The timeout of a push that waits for a connection, after which the dispatcher retries it. It is shorter than the
    /// time limit of a graceful shutdown.
    private static let sendTimeout: Duration = .seconds(10)

    var configuration: ProviderConfiguration
    let services: PushServices
    let bridges: BridgesConfiguration
    let log: LogConfiguration

    /// Runs the provider until the process is shut down.
    /// - Parameter settings: The settings, for the first line of the log.
    func run(_ settings: SettingsReader) async throws {
        let logger = self.log.logger("martlet")
        self.services.log(to: logger)
        StartLine.log(to: logger, "provider starts", data: self.configuration.dataDirectory, settings)

        var sending = SenderConfiguration()
        sending.waitTimeout = Self.sendTimeout
        sending.proxy = self.services.proxy
        var configuration = self.configuration
        configuration.openFiles = OpenFileLimit.raise()
        configuration.feedback = self.services.legacy.compactMapValues(\.feedback)
        let metrics = PrometheusRegistry(ProviderServer.metricDescriptions)
        MetricsSystem.bootstrap(metrics)
        let pool = try SenderPool(
            endpoints: self.services.endpoints,
            legacy: self.services.legacy,
            configuration: sending,
            logger: self.log.logger("sender")
        )
        let isAPIOnly = configuration.isAPIOnly || !configuration.hasListener
        let server = try await ProviderServer(
            configuration: configuration,
            senders: pool,
            metrics: metrics,
            addition: { try Bridges($0, self.bridges) },
            pages: { isAPIOnly ? nil : try Dashboard($0) },
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
            logger: self.log.logger("provider")
        )
        try await ServiceRunner.run([pool, server], ready: { _ = try await server.port() }, logger: logger)
    }
}
