import ArgumentParser
import Configuration
import PushGateway
import PushTypes

/// Which environments a gateway serves, and where.
struct GatewayListenerOptions: ParsableArguments {
    /// What `--environment` can say.
    enum Choice: String, CaseIterable {
        case sandbox
        case production
        case both
    }

    /// Production's ports are this much higher where both environments are served.
    private static let shift = 100

    @Option(help: "sandbox, production or both (gateway.environment; default: both).")
    var environment: String?

    @Option(help: "Address that all doors but the admin door listen on (gateway.host; default: 127.0.0.1).")
    var host: String?

    @Option(
        help: """
            Port of the provider API over HTTP/2, the sandbox's or the only environment's; 0 takes a free one \
            (gateway.http2Port; default: 2197).
            """
    )
    var http2Port: Int?

    @Option(help: "Port for devices (gateway.courierPort; default: 5223).")
    var courierPort: Int?

    @Option(help: "Port of the legacy binary interface (gateway.binaryPort; default: 2195).")
    var binaryPort: Int?

    @Option(help: "Port of the legacy feedback service (gateway.feedbackPort; default: 2196).")
    var feedbackPort: Int?

    @Option(help: "Production's, beside a sandbox (gateway.productionHTTP2Port; default: 100 higher).")
    var productionHttp2Port: Int?

    @Option(help: "The same for devices (gateway.productionCourierPort).")
    var productionCourierPort: Int?

    @Option(help: "The same for the binary interface (gateway.productionBinaryPort).")
    var productionBinaryPort: Int?

    @Option(help: "The same for the feedback service (gateway.productionFeedbackPort).")
    var productionFeedbackPort: Int?

    @Option(help: "Port of the admin door, on 127.0.0.1 only (gateway.adminPort; default: 2198).")
    var adminPort: Int?

    @Option(help: "0 takes free ports for all doors; the log says which.")
    var port: Int?

    func validate() throws {
        guard self.port == nil || self.port == 0 else {
            throw ValidationError("--port is for 0 only: every door has a port of its own.")
        }
    }

    var settings: [String: ConfigValue?] {
        [
            "gateway.environment": self.environment.setting(), "gateway.host": self.host.setting(),
            "gateway.http2Port": self.http2Port.setting(), "gateway.courierPort": self.courierPort.setting(),
            "gateway.binaryPort": self.binaryPort.setting(), "gateway.feedbackPort": self.feedbackPort.setting(),
            "gateway.productionHTTP2Port": self.productionHttp2Port.setting(),
            "gateway.productionCourierPort": self.productionCourierPort.setting(),
            "gateway.productionBinaryPort": self.productionBinaryPort.setting(),
            "gateway.productionFeedbackPort": self.productionFeedbackPort.setting(),
            "gateway.adminPort": self.adminPort.setting(),
        ]
    }

    func apply(_ settings: Settings, to configuration: inout GatewayConfiguration) {
        let usual = GatewayConfiguration.Listeners.usual(.sandbox)
        let host = settings.string("gateway.host", default: usual.http2.host)
        let main = GatewayConfiguration.Listeners(
            host: host,
            http2: self.port(settings, "http2Port", default: usual.http2.port),
            deviceLink: self.port(settings, "courierPort", default: usual.deviceLink.port),
            binary: self.port(settings, "binaryPort", default: usual.binary.port),
            feedback: self.port(settings, "feedbackPort", default: usual.feedback.port)
        )
        let production = GatewayConfiguration.Listeners(
            host: host,
            http2: self.port(settings, "productionHTTP2Port", default: Self.above(main.http2.port)),
            deviceLink: self.port(settings, "productionCourierPort", default: Self.above(main.deviceLink.port)),
            binary: self.port(settings, "productionBinaryPort", default: Self.above(main.binary.port)),
            feedback: self.port(settings, "productionFeedbackPort", default: Self.above(main.feedback.port))
        )
        switch settings.choice("gateway.environment", default: Choice.both) {
        case .sandbox: configuration.listeners = [.sandbox: main]
        case .production: configuration.listeners = [.production: main]
        case .both: configuration.listeners = [.sandbox: main, .production: production]
        }
        configuration.admin = ListenAddress(
            host: "127.0.0.1",
            port: self.port(settings, "adminPort", default: configuration.admin.port)
        )
    }

    private func port(_ settings: Settings, _ name: String, default value: Int) -> Int {
        settings.port("gateway.\(name)", default: self.port ?? value)
    }

    /// A free port beside a free port.
    private static func above(_ port: Int) -> Int { port == 0 ? 0 : port + Self.shift }
}
