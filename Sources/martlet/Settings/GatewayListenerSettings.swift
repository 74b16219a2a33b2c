import ArgumentParser
import PushGateway
import PushTypes

/// The environments that a gateway serves, or that a certificate is for.
enum EnvironmentChoice: String, CaseIterable, ExpressibleByArgument { case sandbox, production, both }

extension GatewayConfiguration.Listeners: SettingTarget {
    /// The ports that Apple uses, apart from 443.
    static var defaults: GatewayConfiguration.Listeners { .usual(.sandbox) }
}

extension GatewaySettings {
    /// The environments that a gateway serves, and the addresses of its listeners.
    enum Listeners: SettingSection {
        private typealias Row = SettingRow<GatewayConfiguration.Listeners>

        /// The difference of production's ports where both environments are served.
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

        /// Returns a row for a port that is by default that of the sandbox plus ``shift``.
        private static func higher(_ name: String, flag: String, _ path: Row.Path<Int>) -> Row {
            .port("gateway.\(name)", flag: flag, path, default: "\(self.shift) higher")
        }

        private static let highestPort = 65_535

        /// Copies the addresses of all listeners to a configuration.
        /// - Parameter freePorts: Whether ports that no setting names are free ones, rather than the usual ones.
        static func apply(_ settings: SettingsReader, freePorts: Bool, to configuration: inout GatewayConfiguration) {
            var main = freePorts ? GatewayConfiguration.Listeners.free : .defaults
            for row in self.main { row.apply(settings, &main) }
            let paths = [\GatewayConfiguration.Listeners.http2, \.deviceLink, \.binary, \.feedback]
            for path in paths { main[keyPath: path].host = settings.text(self.host) }
            var production = main
            for path in paths {
                // A free port of the sandbox means a free port of production.
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

/// The option that asks for free ports.
struct FreePortsOption: ParsableArguments {
    @Option(help: "0 takes free ports for all listeners; the log names them.") var port: Int?

    func validate() throws {
        guard self.port == nil || self.port == 0 else {
            throw ValidationError("--port is for 0 only: every listener has a port of its own.")
        }
    }
}
