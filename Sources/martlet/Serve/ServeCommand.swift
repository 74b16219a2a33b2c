import ArgumentParser
import Configuration
import Foundation
import Logging
import Metrics
import ProviderAPI
import PushHTTP
import PushSender

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the provider: keep devices, take notifications over a REST API, send them.",
        discussion: """
            The first start prints an admin API key, once, or writes it to --admin-key-file. Without other settings \
            notifications go to Apple; for a Martlet gateway give --sandbox-service localhost:2197 and its \
            authority.pem as --service-authority. Ends on Ctrl-C, when the page in flight has been sent. \
            docs/operations.md tells more about each setting.
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "Where database and master key are (serve.dataDirectory; default: martlet-data/provider).")
    var dataDirectory: String?

    @Option(help: "32 bytes that seal the private keys (serve.masterKey; default: master.key in the data directory).")
    var masterKey: String?

    @Option(help: "Address that the API listens on (serve.host; default: 127.0.0.1).")
    var host: String?

    @Option(help: "Port of the API; 0 takes a free one (serve.port; default: 8080).")
    var port: Int?

    @Option(help: "Push service for the sandbox, as HOST:PORT (serve.sandboxService; default: Apple's).")
    var sandboxService: String?

    @Option(help: "Push service for production, as HOST:PORT (serve.productionService; default: Apple's).")
    var productionService: String?

    @Option(help: "PEM file of an authority that the services named here are trusted by too (serve.serviceAuthority).")
    var serviceAuthority: String?

    @Option(help: "New file for the first admin API key, which is not printed then (serve.adminKeyFile).")
    var adminKeyFile: String?

    @OptionGroup(title: "Limits") var limits: ServeLimitOptions
    @OptionGroup(title: "Breaker against mass deactivation of tokens") var breaker: ServeBreakerOptions
    @OptionGroup(title: "Forms of older systems") var compatibility: ServeCompatibilityOptions

    func run() async throws {
        let flags: [String: ConfigValue?] = [
            "serve.dataDirectory": self.dataDirectory.setting(), "serve.masterKey": self.masterKey.setting(),
            "serve.host": self.host.setting(), "serve.port": self.port.setting(),
            "serve.sandboxService": self.sandboxService.setting(),
            "serve.productionService": self.productionService.setting(),
            "serve.serviceAuthority": self.serviceAuthority.setting(),
            "serve.adminKeyFile": self.adminKeyFile.setting(),
        ]
        let settings = try await self.common.settings(
            flags.merging(self.limits.flags) { $1 }.merging(self.breaker.flags) { $1 }
                .merging(self.compatibility.flags) { $1 }
        )
        var configuration = ProviderConfiguration(
            dataDirectory: settings.string("serve.dataDirectory", default: "martlet-data/provider"),
            masterKeyPath: settings.string("serve.masterKey")
        )
        configuration.adminKeyFile = settings.string("serve.adminKeyFile")
        configuration.host = settings.string("serve.host", default: "127.0.0.1")
        configuration.port = settings.port("serve.port", default: 8080)
        ServeLimitOptions.apply(settings, to: &configuration)
        configuration.breaker = try ServeBreakerOptions.limits(settings)
        configuration.compatibility = try ServeCompatibilityOptions.configuration(settings)
        let services = try PushServices(settings)
        let log = LogSetup(settings)
        try settings.check()
        if let warning = services.warning { log.logger("martlet").warning("\(warning)") }

        var sending = SenderConfiguration()
        // Shorter than an orderly end may take; the dispatcher tries again anyway.
        sending.waitTimeout = .seconds(10)
        let metrics = PrometheusRegistry()
        MetricsSystem.bootstrap(metrics)
        let pool = try SenderPool(endpoints: services.endpoints, configuration: sending, logger: log.logger("sender"))
        let server = try await ProviderServer(
            configuration: configuration,
            senders: pool,
            metrics: metrics,
            showAdminKey: { [file = configuration.adminKeyFile] key in
                if let file {
                    StandardOutput.line("the first admin key is in \(file): take it from there and remove the file")
                } else {
                    StandardOutput.line("admin API key (shown only now, keep it safe): \(key)")
                }
            },
            logger: log.logger("provider")
        )
        try await ServiceRun.run([pool, server], logger: log.logger("martlet"))
    }
}
