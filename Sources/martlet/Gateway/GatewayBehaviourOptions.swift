import ArgumentParser
import Configuration
import PushGateway

/// How a gateway treats providers, beyond what is right.
struct GatewayBehaviourOptions: ParsableArguments {
    @Option(
        help: """
            A fault from the start on, such as reason=TooManyRequests,percent=20; repeat it for several \
            (gateway.faults). 'martlet gateway fault' adds and removes them later.
            """
    )
    var fault: [String] = []

    @Option(help: "A JSON file of faults (gateway.faultsFile).")
    var faults: String?

    @Flag(help: "Keep all rules as Apple does: one stream at first, provider tokens for 20 minutes … (gateway.strict).")
    var strict = false

    @Flag(name: .customLong("old-tls"), help: "Let legacy clients use TLS 1.0 and 1.1 (gateway.oldTLS).")
    var oldTLS = false

    @Option(
        help: """
            32 gives devices tokens of 32 bytes, which is all that clients of 2009 can carry (gateway.tokenLength; \
            default: 0, of varying length). An app can have its own.
            """
    )
    var tokenLength: Int?

    var settings: [String: ConfigValue?] {
        [
            "gateway.faults": self.fault.setting(), "gateway.faultsFile": self.faults.setting(),
            "gateway.strict": self.strict.setting(), "gateway.oldTLS": self.oldTLS.setting(),
            "gateway.tokenLength": self.tokenLength.setting(),
        ]
    }

    func apply(_ settings: Settings, to configuration: inout GatewayConfiguration) {
        configuration.faults = settings.strings("gateway.faults") ?? []
        configuration.faultsFile = settings.string("gateway.faultsFile")
        if settings.flag("gateway.strict") { configuration.rules = .strict }
        Self.apply(settings, to: &configuration.rules)
        configuration.allowsOldTLS = settings.flag("gateway.oldTLS")
        configuration.tokenLength = settings.integer("gateway.tokenLength", among: [0, 32]) ?? 0
        configuration.limits.backgroundPerHour = settings.integer("gateway.backgroundPerHour", in: 0...1_000_000)
    }

    /// Single rules, over those of the preset.
    private static func apply(_ settings: Settings, to rules: inout ProviderRules) {
        if let limit = settings.integer("gateway.rules.firstStreams", in: 1...4096) { rules.firstStreamLimit = limit }
        if let limit = settings.integer("gateway.rules.streams", in: 1...4096) { rules.streamLimit = limit }
        if let minutes = settings.integer("gateway.rules.tokenUpdateMinutes", in: 0...1440) {
            rules.tokenUpdateInterval = minutes == 0 ? nil : .seconds(minutes * 60)
        }
        if let count = settings.integer("gateway.rules.pushesPerDeviceAndMinute", in: 0...1_000_000) {
            rules.deviceRate = count == 0 ? nil : .init(requests: count, window: .seconds(60))
        }
        if let burst = settings.integer("gateway.rules.pushBurstPerDevice", in: 1...1_000_000) {
            rules.deviceRate?.burst = burst
        }
        if let seconds = settings.integer("gateway.rules.idleSeconds", in: 0...1_000_000) {
            rules.idleTimeout = seconds == 0 ? nil : .seconds(seconds)
        }
        if let count = settings.integer("gateway.rules.refusalsBeforeEnd", in: 0...1_000_000) {
            rules.refusalsBeforeEnd = count == 0 ? nil : count
        }
        if let seconds = settings.integer("gateway.rules.retryAfterSeconds", in: 0...86_400) {
            rules.retryAfter = seconds == 0 ? nil : seconds
        }
    }
}
