import ArgumentParser
import Configuration
import NIOCore
import PushGateway
import PushHTTP

/// The bounds of connections to a gateway that have shown no valid credential.
struct GatewayAdmissionOptions: ParsableArguments {
    @Option(
        help: """
            Bytes that all connections without a valid credential may hold together (gateway.unprovenBytes; default: \
            8388608).
            """
    )
    var unprovenBytes: Int?

    @Option(
        help: "Connections without a valid credential, over all listeners (gateway.unprovenConnections; default: 4096)."
    )
    var unprovenConnections: Int?

    @Option(help: "Seconds from accept to the first valid credential (gateway.credentialSeconds; default: 60).")
    var credentialSeconds: Int?

    var settings: [String: ConfigValue?] {
        [
            "gateway.unprovenBytes": self.unprovenBytes.setting(),
            "gateway.unprovenConnections": self.unprovenConnections.setting(),
            "gateway.credentialSeconds": self.credentialSeconds.setting(),
        ]
    }

    func apply(_ settings: Settings, to configuration: inout GatewayConfiguration) {
        if let bytes = settings.integer("gateway.unprovenBytes", in: 65_536...1 << 40) {
            configuration.limits.unauthenticated.bytes = bytes
        }
        if let count = settings.integer("gateway.unprovenConnections", in: 1...1_000_000) {
            configuration.limits.unauthenticated.connections = count
        }
        if let seconds = settings.integer("gateway.credentialSeconds", in: 1...86_400) {
            configuration.limits.unauthenticated.deadline = .seconds(Int64(seconds))
        }
    }
}
