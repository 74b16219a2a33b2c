import ArgumentParser
import NIOCore
import PushGateway
import PushHTTP
import PushSupport
import PushTypes

extension GatewayConfiguration: SettingTarget {
    /// The default configuration of a gateway, with the data directory in the working directory.
    static var defaults: GatewayConfiguration { GatewayConfiguration(dataDirectory: "martlet-data/gateway") }

    /// The maximum number of connections without a valid credential.
    fileprivate var maximumUnauthenticated: Int {
        get { self.limits.unauthenticated.connections }
        set { self.limits.unauthenticated.connections = newValue }
    }

    /// The time limit from accepting a connection to its first valid credential, in seconds.
    fileprivate var credentialSeconds: Int {
        get { Int(self.limits.unauthenticated.deadline.nanoseconds / 1_000_000_000) }
        set { self.limits.unauthenticated.deadline = .seconds(Int64(newValue)) }
    }
}

enum GatewaySettings {
    /// The settings for the data directory and the server certificate.
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

        /// Returns whether a name is permitted in a certificate. It consists of letters, digits, hyphens and dots,
        /// optionally after a wildcard, or is an IPv6 address.
        private static func isServerName(_ name: String) -> Bool {
            let labels = name.split(separator: ".", omittingEmptySubsequences: false)
            guard (1...253).contains(name.utf8.count), !name.hasPrefix("-"), !labels.contains("") else { return false }
            let host = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
            return host.utf8.allSatisfy { $0.isAlphanumeric || "-.:_".utf8.contains($0) }
        }
    }

    /// The settings for the behaviour towards providers, except single rules: faults, strictness and the length of
    /// tokens.
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

    /// The settings of single rules, which override `gateway.strict`. They have no flags, and 0 means no limit.
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

        /// Creates a row for a rule whose default depends on `gateway.strict`.
        /// - Parameters:
        ///   - defaultText: The default as help shows it.
        ///   - set: A closure that copies the value to the rules.
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

    /// The settings for the limits of connections without a valid credential.
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

    /// The setting for the address of a running gateway, for the commands that manage it.
    enum Admin: SettingSection {
        private static let defaultURL = "http://\(GatewayConfiguration.defaults.admin)"
        static let url = Setting("gateway.adminURL", flag: "admin-url", default: defaultURL)
            .help("The URL of the gateway's admin API")
            .formerly("device.admin")

        static let settings = [url]

        /// Returns the URL of the admin API. If it is malformed, ``SettingsReader/check()`` throws an error.
        static func url(_ settings: SettingsReader) -> String {
            let text = settings.text(self.url)
            if !APIClient.isURL(text) {
                settings.reject(self.url, "'\(text.printable)' is no URL such as \(self.defaultURL)")
            }
            return text
        }
    }
}

/// The environments to which a gateway or a certificate applies.
enum EnvironmentChoice: String, CaseIterable, ExpressibleByArgument { case sandbox, production, both }

extension GatewayConfiguration.Listeners: SettingTarget {
    /// The default ports of the listeners, which are those of Apple except for 443.
    static var defaults: GatewayConfiguration.Listeners { .usual(.sandbox) }
}

extension GatewaySettings {
    /// The settings for the environments that a gateway serves, and for the addresses of its listeners.
    enum Listeners: SettingSection {
        private typealias Row = SettingRow<GatewayConfiguration.Listeners>

        /// The default difference between the production ports and the sandbox ports, if both environments are served.
        private static let shift = 100

        private static let served = EnvironmentChoice.both
        private static let environment = Setting.choice("gateway.environment", flag: "environment", default: served)
            .help("The environments to serve")
        private static let defaultHost = GatewayConfiguration.Listeners.defaults.http2.host
        private static let host = Setting("gateway.host", flag: "host", default: defaultHost)
            .help("Address of all listeners but the admin listener")
        private static let main: [Row] = [
            .port("gateway.http2Port", flag: "http2-port", \.http2.port)
                .help("Port of the provider API over HTTP/2")
                .detail("It belongs to the sandbox, or to the only environment; so do the next three.")
                .detail("0 takes a free port here and for every other listener."),
            .port("gateway.courierPort", flag: "courier-port", \.deviceLink.port)
                .help("Port for devices"),
            .port("gateway.binaryPort", flag: "binary-port", \.binary.port)
                .help("Port of the binary protocol"),
            .port("gateway.feedbackPort", flag: "feedback-port", \.feedback.port)
                .help("Port of the legacy feedback service"),
        ]
        private static let production: [Row] = [
            higher("productionHTTP2Port", flag: "production-http2-port", \.http2.port)
                .help("Production's HTTP/2 port, beside a sandbox"),
            higher("productionCourierPort", flag: "production-courier-port", \.deviceLink.port)
                .help("Production's port for devices, beside a sandbox"),
            higher("productionBinaryPort", flag: "production-binary-port", \.binary.port)
                .help("Production's port of the binary protocol, beside a sandbox"),
            higher("productionFeedbackPort", flag: "production-feedback-port", \.feedback.port)
                .help("Production's port of the feedback service, beside a sandbox"),
        ]
        private static let admin = SettingRow<GatewayConfiguration>
            .port("gateway.adminPort", flag: "admin-port", \.admin.port)
            .help("Port of the admin API, on 127.0.0.1 only")

        static let settings =
            [environment, host] + main.map(\.setting) + production.map(\.setting) + [admin.setting]

        /// Creates a row for a production port, whose default is the sandbox port plus ``shift``.
        private static func higher(_ name: String, flag: String, _ path: Row.Path<Int>) -> Row {
            .port("gateway.\(name)", flag: flag, path, default: "\(self.shift) higher")
        }

        private static let highestPort = 65_535

        /// Copies the addresses of all listeners to a configuration.
        /// - Parameter freePorts: Pass `true` to use a free port instead of the default where no setting names one.
        static func apply(_ settings: SettingsReader, freePorts: Bool, to configuration: inout GatewayConfiguration) {
            var main = freePorts ? GatewayConfiguration.Listeners.free : .defaults
            for row in self.main { row.apply(settings, &main) }
            let paths = [\GatewayConfiguration.Listeners.http2, \.deviceLink, \.binary, \.feedback]
            for path in paths { main[keyPath: path].host = settings.text(self.host) }
            var production = main
            for path in paths {
                // If the sandbox uses a free port, production does too.
                let port = main[keyPath: path].port
                production[keyPath: path].port = freePorts || port == 0 ? 0 : port + self.shift
            }
            for row in self.production { row.apply(settings, &production) }
            switch settings.choice(self.environment, default: self.served) {
            case .sandbox: configuration.listeners = [.sandbox: main]
            case .production: configuration.listeners = [.production: main]
            case .both:
                for (row, path) in zip(self.production, paths) where production[keyPath: path].port > Self.highestPort {
                    let message = "\(production[keyPath: path].port) is not a port, use 0 to \(Self.highestPort)"
                    settings.reject(row.setting, message)
                    production[keyPath: path].port = 0
                }
                configuration.listeners = [.sandbox: main, .production: production]
            }
            if freePorts { configuration.admin.port = 0 }
            self.admin.apply(settings, &configuration)
        }
    }
}

/// The option that requests free ports for all listeners.
struct FreePortsOption: ParsableArguments {
    @Option(help: "0 takes free ports for all listeners; the log names them.") var port: Int?

    func validate() throws {
        guard self.port == nil || self.port == 0 else {
            throw ValidationError("--port is for 0 only: every listener has a port of its own.")
        }
    }
}
