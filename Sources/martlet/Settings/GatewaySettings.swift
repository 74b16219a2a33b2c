import NIOCore
import PushGateway
import PushHTTP

extension GatewayConfiguration: SettingTarget {
    /// A gateway with the usual listeners and data in the working directory.
    static var defaults: GatewayConfiguration { GatewayConfiguration(dataDirectory: "martlet-data/gateway") }

    /// The most connections without a valid credential.
    fileprivate var maximumUnauthenticated: Int {
        get { self.limits.unauthenticated.connections }
        set { self.limits.unauthenticated.connections = newValue }
    }

    /// The seconds from accept to the first valid credential.
    fileprivate var credentialSeconds: Int {
        get { Int(self.limits.unauthenticated.deadline.nanoseconds / 1_000_000_000) }
        set { self.limits.unauthenticated.deadline = .seconds(Int64(newValue)) }
    }
}

/// The settings of a gateway.
enum GatewaySettings {
    /// Data and server certificate.
    enum General: ConfigurationSection {
        private static let serverNames = Setting(
            "gateway.serverNames",
            flag: "server-name",
            kind: .list,
            default: GatewayConfiguration.defaults.serverNames.joined(separator: ", ")
        )
        .help("A name in the server certificate; repeat it for several")
        .detail("The loopback addresses are always in it.")

        static let rows: [SettingRow<GatewayConfiguration>] = [
            .text("gateway.dataDirectory", flag: "data-directory", \.dataDirectory)
                .help("Directory of certificates, keys and stored messages"),
            SettingRow(serverNames) { settings, configuration in
                guard let names = settings.strings(serverNames) else { return }
                for name in names where !Self.isServerName(name) {
                    settings.reject(serverNames, "'\(name.printable)' is not a host name or an IP address")
                }
                configuration.serverNames = names
            },
            .choice("gateway.serverKey", flag: "server-key", \.serverKey)
                .help("Kind of key in the server certificate"),
        ]

        /// Indicates whether a certificate can have a name: letters, digits, hyphens and dots, a wildcard before
        /// them, or an IPv6 address.
        private static func isServerName(_ name: String) -> Bool {
            let labels = name.split(separator: ".", omittingEmptySubsequences: false)
            guard (1...253).contains(name.utf8.count), !name.hasPrefix("-"), !labels.contains("") else { return false }
            let host = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
            return host.utf8.allSatisfy { byte in
                (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                    || [45, 46, 58, 95].contains(byte)
            }
        }
    }

    /// The treatment of providers beyond the rules: faults, strictness, token length.
    enum Behaviour: ConfigurationSection {
        private static let strict = Setting("gateway.strict", flag: "strict", kind: .toggle)
            .help("Enforce all rules as Apple does, such as one stream until the first accepted request")
            .detail("Every rule can be set by itself, see `gateway.rules`.")
        private static let pushes = Setting.Kind.integer(0...1_000_000)
        private static let backgroundPerHour = Setting("gateway.backgroundPerHour", kind: pushes, default: "no limit")
            .help("Background notifications per hour, device and app")
            .detail("Of further ones, only the newest waits.")

        static let rows: [SettingRow<GatewayConfiguration>] = [
            .list("gateway.faults", flag: "fault", \.faults)
                .help("A fault from the start, such as reason=TooManyRequests,percent=20; repeat it for several")
                .detail("`martlet gateway fault` adds and removes faults later.")
                .detail("In the environment variable semicolons separate several, because a fault has commas.")
                .separated(by: ";"),
            .text("gateway.faultsFile", flag: "faults", \.faultsFile)
                .help("A JSON file of faults"),
            SettingRow(strict) { if $0.isOn(strict) { $1.rules = .strict } },
            .toggle("gateway.oldTLS", flag: "old-tls", \.allowsOldTLS)
                .help("Let legacy clients use TLS 1.0 and 1.1"),
            .integer("gateway.tokenLength", flag: "token-length", among: [0, 32], \.tokenLength)
                .help("Bytes of device tokens; 0 makes them of varying length")
                .detail("Clients of 2009 can only handle 32. An app can have a length of its own."),
            SettingRow(backgroundPerHour) { $1.limits.backgroundPerHour = $0.integer(backgroundPerHour) },
        ]
    }

    /// Single rules for providers, which win over `gateway.strict`. They have no flags, and 0 sets no limit.
    enum Rules: ConfigurationSection {
        private static let burst = Setting(
            "gateway.rules.pushBurstPerDevice",
            kind: .integer(1...1_000_000),
            default: "that rate; strict: 1000"
        )
        .help("Pushes per device token at once, which come back at that rate")

        static let rows: [SettingRow<GatewayConfiguration>] = [
            rule("firstStreams", 1...4096, "1000; strict: 1") { $0.firstStreamLimit = $1 }
                .help("HTTP/2 streams until the first accepted request"),
            rule("streams", 1...4096, "1000") { $0.streamLimit = $1 }
                .help("HTTP/2 streams afterwards; with a certificate from the start"),
            rule("tokenUpdateMinutes", 0...1440, "none; strict: 20") {
                $0.tokenUpdateInterval = $1 == 0 ? nil : .seconds($1 * 60)
            }
            .help("Minutes between changes of the provider token, 0 for no limit")
            .detail("An earlier change is answered with `TooManyProviderTokenUpdates`."),
            rule("pushesPerDeviceAndMinute", 0...1_000_000, "none; strict: 600") {
                $0.deviceRate = $1 == 0 ? nil : .init(requests: $1, window: .seconds(60), burst: $0.deviceRate?.burst)
            }
            .help("Pushes per device token and minute, 0 for no limit")
            .detail("Further ones are answered with `TooManyRequests`."),
            SettingRow(burst) { settings, configuration in
                guard let number = settings.integer(burst) else { return }
                if configuration.rules.deviceRate == nil {
                    settings.reject(burst, "there is no rate: set gateway.rules.pushesPerDeviceAndMinute too")
                }
                configuration.rules.deviceRate?.burst = number
            },
            rule("idleSeconds", 0...1_000_000, "none; strict: 3600") { $0.idleTimeout = $1 == 0 ? nil : .seconds($1) }
                .help("Seconds without a request until a connection ends with `IdleTimeout`, 0 for no limit"),
            rule("refusalsBeforeEnd", 0...1_000_000, "none; strict: 100") { $0.refusalsBeforeEnd = $1 == 0 ? nil : $1 }
                .help("Rejected requests in a row until a connection ends, 0 for no limit")
                .detail("`BadDeviceToken` counts as 5, a 410 not at all."),
            rule("retryAfterSeconds", 0...86_400, "none") { $0.retryAfter = $1 == 0 ? nil : $1 }
                .help("Seconds in `retry-after` of 429 and 503, 0 to send none"),
        ]

        /// A row for a rule that the preset decides where the setting is absent.
        private static func rule(
            _ name: String,
            _ range: ClosedRange<Int>,
            _ defaultText: String,
            set: @escaping @Sendable (inout ProviderRules, Int) -> Void
        ) -> SettingRow<GatewayConfiguration> {
            let setting = Setting("gateway.rules.\(name)", kind: .integer(range), default: defaultText)
            return SettingRow(setting) { settings, configuration in
                if let number = settings.integer(setting) { set(&configuration.rules, number) }
            }
        }
    }

    /// The bounds of connections that have shown no valid credential.
    enum UnauthenticatedConnections: ConfigurationSection {
        static let rows: [SettingRow<GatewayConfiguration>] = [
            .integer("gateway.unprovenBytes", flag: "unproven-bytes", 65_536...1 << 40, \.limits.unauthenticated.bytes)
                .help("Bytes that all connections without a valid credential may hold together"),
            .integer(
                "gateway.unprovenConnections",
                flag: "unproven-connections",
                1...1_000_000,
                \.maximumUnauthenticated
            )
            .help("Connections without a valid credential, over all listeners"),
            .integer("gateway.credentialSeconds", flag: "credential-seconds", 1...86_400, \.credentialSeconds)
                .help("Seconds from the accept of a connection to its first valid credential"),
        ]
    }

    /// The address of a running gateway, for the commands that manage one.
    enum Admin: SettingSection {
        private static let defaultURL = "http://\(GatewayConfiguration.defaults.admin)"
        static let url = Setting("gateway.adminURL", flag: "admin-url", default: defaultURL)
            .help("The URL of the gateway's admin API")
            .formerly("device.admin")

        static let settings = [url]

        /// Returns the URL. A malformed one is an error of ``SettingsReader/check()``.
        static func url(_ settings: SettingsReader) -> String {
            let text = settings.text(self.url)
            if !APIClient.isURL(text) {
                settings.reject(self.url, "'\(text.printable)' is no URL such as \(self.defaultURL)")
            }
            return text
        }
    }
}
