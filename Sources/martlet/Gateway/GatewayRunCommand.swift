import ArgumentParser
import Configuration
import Foundation
import Logging
import PushGateway
import PushSupport

struct GatewayRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a gateway.",
        discussion: """
            The first start makes an authority, certificates and a token key in the data directory. What a provider has \
            to trust is authority.pem there. Apps, keys and devices are managed at the admin door. Ends on Ctrl-C.

            Example: martlet gateway --environment sandbox --fault reason=TooManyRequests,percent=20
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(
        help: "Where certificates, keys and stored messages are (gateway.dataDirectory; default: martlet-data/gateway)."
    )
    var dataDirectory: String?

    @Option(help: "A name in the server certificate; repeat it for several (gateway.serverNames; default: localhost).")
    var serverName: [String] = []

    @Option(help: "Kind of key in the server certificate: p256 or rsa (gateway.serverKey; default: p256).")
    var serverKey: String?

    @OptionGroup(title: "Doors") var doors: GatewayListenerOptions
    @OptionGroup(title: "Behaviour") var behaviour: GatewayBehaviourOptions
    @OptionGroup(title: "Admission") var admission: GatewayAdmissionOptions

    func run() async throws {
        let flags: [String: ConfigValue?] = [
            "gateway.dataDirectory": self.dataDirectory.setting(), "gateway.serverNames": self.serverName.setting(),
            "gateway.serverKey": self.serverKey.setting(),
        ]
        let settings = try await self.common.settings(
            flags.merging(self.doors.settings) { $1 }.merging(self.behaviour.settings) { $1 }
                .merging(self.admission.settings) { $1 }
        )
        var configuration = GatewayConfiguration(
            dataDirectory: settings.string("gateway.dataDirectory", default: "martlet-data/gateway")
        )
        configuration.serverNames = settings.strings("gateway.serverNames") ?? ["localhost"]
        configuration.serverKey = settings.choice("gateway.serverKey", default: ServerKeyType.p256)
        self.doors.apply(settings, to: &configuration)
        self.admission.apply(settings, to: &configuration)
        self.behaviour.apply(settings, to: &configuration)
        let log = LogSetup(settings)
        try settings.check()

        let gateway = try Gateway(configuration: configuration, time: SystemTime(), logger: log.logger("gateway"))
        try await ServiceRun.run([gateway], logger: log.logger("martlet"))
    }
}
