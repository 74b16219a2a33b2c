import ArgumentParser
import Foundation
import Logging
import PushGateway
import PushProtocol

struct GatewayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway",
        abstract: "Stand in for Apple: take pushes over HTTP/2, deliver them to connected devices.",
        discussion: """
            The first start makes an authority, certificates and a token key in the data directory. What a provider has \
            to trust is authority.pem there. Apps, keys and devices are managed at the admin door. Ends on Ctrl-C.
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(
        help: "Where certificates, keys and stored messages are (gateway.dataDirectory; default: martlet-data/gateway)."
    )
    var dataDirectory: String?

    @Option(help: "sandbox or production (gateway.environment; default: sandbox).")
    var environment: String?

    @Option(help: "Address that the HTTP/2 and courier doors listen on (gateway.host; default: 127.0.0.1).")
    var host: String?

    @Option(help: "Port of the provider API over HTTP/2; 0 takes a free one (gateway.http2Port; default: 2197).")
    var http2Port: Int?

    @Option(help: "Port for devices (gateway.courierPort; default: 5223).")
    var courierPort: Int?

    @Option(help: "Port of the admin door, on 127.0.0.1 only (gateway.adminPort; default: 2198).")
    var adminPort: Int?

    @Option(help: "A name in the server certificate; repeat it for several (gateway.serverNames; default: localhost).")
    var serverName: [String] = []

    func run() async throws {
        let settings = try await self.common.settings([
            "gateway.dataDirectory": self.dataDirectory.setting(), "gateway.environment": self.environment.setting(),
            "gateway.host": self.host.setting(), "gateway.http2Port": self.http2Port.setting(),
            "gateway.courierPort": self.courierPort.setting(), "gateway.adminPort": self.adminPort.setting(),
            "gateway.serverNames": self.serverName.setting(),
        ])
        let host = settings.string("gateway.host", default: "127.0.0.1")
        var configuration = GatewayConfiguration(
            dataDirectory: settings.string("gateway.dataDirectory", default: "martlet-data/gateway")
        )
        let environment: PushEnvironment = settings.choice("gateway.environment", default: .sandbox)
        configuration.doors = [
            environment: .init(
                host: host,
                http2: settings.port("gateway.http2Port", default: 2197),
                courier: settings.port("gateway.courierPort", default: 5223),
                binary: 2195,
                feedback: 2196
            )
        ]
        configuration.admin = ListenAddress(host: "127.0.0.1", port: settings.port("gateway.adminPort", default: 2198))
        configuration.serverNames = settings.strings("gateway.serverNames") ?? ["localhost"]
        let log = LogSetup(settings)
        try settings.check()

        let gateway = try Gateway(configuration: configuration, time: SystemTime(), logger: log.logger("gateway"))
        try await ServiceRun.run([gateway], logger: log.logger("martlet"))
    }
}
