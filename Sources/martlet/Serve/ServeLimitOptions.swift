import ArgumentParser
import Configuration
import ProviderAPI
import PushProvider

/// How much a provider does at a time, what it forgets when, and where webhooks may point.
struct ServeLimitOptions: ParsableArguments {
    @Option(help: "Recipients per transaction (serve.dispatch.page; 1 to 4096, default: 1000).")
    var page: Int?

    @Option(help: "Shards of campaigns sent at a time (serve.dispatch.walkers; 1 to 64, default: 4).")
    var walkers: Int?

    @Option(help: "Days that finished notifications and token events are kept (serve.retentionDays; default: 30).")
    var retentionDays: Int?

    @Option(help: "Days that it is kept who changed what (serve.auditRetentionDays; default: 365).")
    var auditRetentionDays: Int?

    @Option(help: "Days that events for webhooks are kept (serve.eventRetentionDays; default: 7).")
    var eventRetentionDays: Int?

    @Flag(help: "The clock is right, however far it is ahead of the last start (serve.confirmClock).")
    var confirmClock = false

    @Option(help: "Connections to the API at a time (serve.connections; default: 1000).")
    var connections: Int?

    @Option(help: "Seconds from the head of a request to its end (serve.requestSeconds; default: 30).")
    var requestSeconds: Int?

    @Option(help: "Seconds that a question about many devices may take (serve.questionSeconds; 1 to 300, default: 10).")
    var questionSeconds: Int?

    @Option(help: "Requests per second of an API key, 0 for no limit (serve.keyRate; default: 1000).")
    var keyRate: Int?

    @Flag(help: "Webhooks may point to addresses of the own network, with any port (serve.webhooks.allowPrivate).")
    var allowPrivateWebhooks = false

    @Flag(help: "Webhooks may be http (serve.webhooks.allowHTTP).")
    var allowHTTPWebhooks = false

    var flags: [String: ConfigValue?] {
        [
            "serve.dispatch.page": self.page.setting(), "serve.dispatch.walkers": self.walkers.setting(),
            "serve.retentionDays": self.retentionDays.setting(),
            "serve.auditRetentionDays": self.auditRetentionDays.setting(),
            "serve.eventRetentionDays": self.eventRetentionDays.setting(),
            "serve.confirmClock": self.confirmClock.setting(),
            "serve.connections": self.connections.setting(), "serve.requestSeconds": self.requestSeconds.setting(),
            "serve.questionSeconds": self.questionSeconds.setting(), "serve.keyRate": self.keyRate.setting(),
            "serve.webhooks.allowPrivate": self.allowPrivateWebhooks.setting(),
            "serve.webhooks.allowHTTP": self.allowHTTPWebhooks.setting(),
        ]
    }

    /// Takes over what the settings say; ``Settings/check()`` comes after that.
    static func apply(_ settings: Settings, to configuration: inout ProviderConfiguration) {
        if let page = settings.integer("serve.dispatch.page", in: 1...4096) { configuration.dispatch.page = page }
        if let walkers = settings.integer("serve.dispatch.walkers", in: 1...64) {
            configuration.dispatch.walkers = walkers
        }
        if let days = settings.integer("serve.retentionDays", in: 1...3650) {
            configuration.retention.notifications = .seconds(days * 86_400)
        }
        if let days = settings.integer("serve.auditRetentionDays", in: 1...3650) {
            configuration.retention.audit = .seconds(days * 86_400)
        }
        if let days = settings.integer("serve.eventRetentionDays", in: 1...365) {
            configuration.retention.events = .seconds(days * 86_400)
        }
        configuration.confirmsClock = settings.flag("serve.confirmClock")
        if let connections = settings.integer("serve.connections", in: 1...100_000) {
            configuration.limits.connections = connections
        }
        if let seconds = settings.integer("serve.requestSeconds", in: 1...3600) {
            configuration.limits.request = .seconds(seconds)
        }
        if let seconds = settings.integer("serve.questionSeconds", in: 1...300) {
            configuration.limits.question = .seconds(seconds)
        }
        if let rate = settings.integer("serve.keyRate", in: 0...1_000_000) { configuration.limits.keyRate = rate }
        configuration.webhookAddresses.allowsPrivate = settings.flag("serve.webhooks.allowPrivate")
        configuration.webhookAddresses.allowsPlainHTTP = settings.flag("serve.webhooks.allowHTTP")
    }
}
