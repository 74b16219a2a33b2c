import ArgumentParser
import PushGateway
import PushTypes

/// The environments that a gateway serves, or that a certificate is for.
enum EnvironmentChoice: String, CaseIterable, ExpressibleByArgument {
    case sandbox, production, both
}

extension GatewaySettings {
    /// The environments that a gateway serves, and the addresses of its listeners.
    enum Listeners: SettingSection {
        /// The difference of production's ports where both environments are served.
        private static let shift = 100
        /// The ports that Apple uses, apart from 443.
        private static let usual = GatewayConfiguration.Listeners.usual(.sandbox)

        private static let environment = Setting(
            "gateway.environment",
            flag: "environment",
            kind: .choice(EnvironmentChoice.allCases.map(\.rawValue)),
            default: EnvironmentChoice.both.rawValue
        )
        .help("The environments to serve")
        private static let host = Setting("gateway.host", flag: "host", default: usual.http2.host)
            .help("Address of all listeners but the admin listener")
        private static let http2Port = port("http2Port", flag: "http2-port", usual: usual.http2.port)
            .help("Port of the provider API over HTTP/2")
            .detail("It is the sandbox's, or that of the only environment; so are the next three.")
        private static let courierPort = port("courierPort", flag: "courier-port", usual: usual.deviceLink.port)
            .help("Port for devices")
        private static let binaryPort = port("binaryPort", flag: "binary-port", usual: usual.binary.port)
            .help("Port of the legacy binary interface")
        private static let feedbackPort = port("feedbackPort", flag: "feedback-port", usual: usual.feedback.port)
            .help("Port of the legacy feedback service")
        private static let productionHTTP2Port = port("productionHTTP2Port", flag: "production-http2-port")
            .help("Production's HTTP/2 port, beside a sandbox")
        private static let productionCourierPort = port("productionCourierPort", flag: "production-courier-port")
            .help("Production's port for devices, beside a sandbox")
        private static let productionBinaryPort = port("productionBinaryPort", flag: "production-binary-port")
            .help("Production's port of the binary interface, beside a sandbox")
        private static let productionFeedbackPort = port("productionFeedbackPort", flag: "production-feedback-port")
            .help("Production's port of the feedback service, beside a sandbox")
        private static let adminPort = port(
            "adminPort",
            flag: "admin-port",
            usual: GatewayConfiguration.defaults.admin.port
        )
        .help("Port of the admin API, on 127.0.0.1 only")

        static let settings = [
            environment, host, http2Port, courierPort, binaryPort, feedbackPort, productionHTTP2Port,
            productionCourierPort, productionBinaryPort, productionFeedbackPort, adminPort,
        ]

        /// A row for a port; without a usual one it is that of the sandbox plus ``shift``.
        private static func port(_ name: String, flag: String, usual: Int? = nil) -> Setting {
            let text = usual.map(String.init) ?? "\(Self.shift) higher"
            return Setting("gateway.\(name)", flag: flag, kind: Setting.ports, default: text)
        }

        /// Copies the addresses of all listeners to a configuration.
        /// - Parameter freePorts: whether ports that no setting names are free ones, rather than the usual ones.
        static func apply(_ settings: Settings, freePorts: Bool, to configuration: inout GatewayConfiguration) {
            func port(_ setting: Setting, usual: Int) -> Int { settings.integer(setting) ?? (freePorts ? 0 : usual) }
            // A free port of the sandbox means a free port of production.
            func above(_ port: Int) -> Int { port == 0 ? 0 : port + Self.shift }
            let host = settings.text(Self.host)
            let main = GatewayConfiguration.Listeners(
                host: host,
                http2: port(Self.http2Port, usual: Self.usual.http2.port),
                deviceLink: port(Self.courierPort, usual: Self.usual.deviceLink.port),
                binary: port(Self.binaryPort, usual: Self.usual.binary.port),
                feedback: port(Self.feedbackPort, usual: Self.usual.feedback.port)
            )
            let production = GatewayConfiguration.Listeners(
                host: host,
                http2: port(Self.productionHTTP2Port, usual: above(main.http2.port)),
                deviceLink: port(Self.productionCourierPort, usual: above(main.deviceLink.port)),
                binary: port(Self.productionBinaryPort, usual: above(main.binary.port)),
                feedback: port(Self.productionFeedbackPort, usual: above(main.feedback.port))
            )
            switch settings.choice(Self.environment, default: EnvironmentChoice.both) {
            case .sandbox: configuration.listeners = [.sandbox: main]
            case .production: configuration.listeners = [.production: main]
            case .both: configuration.listeners = [.sandbox: main, .production: production]
            }
            configuration.admin = ListenAddress(port: port(Self.adminPort, usual: configuration.admin.port))
        }
    }
}

/// The option that asks for free ports.
struct FreePortsOption: ParsableArguments {
    @Option(help: "0 takes free ports for all listeners; the log has them.") var port: Int?

    func validate() throws {
        guard self.port == nil || self.port == 0 else {
            throw ValidationError("--port is for 0 only: every listener has a port of its own.")
        }
    }
}
