package import PushTypes

/// An address and port to listen on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    /// The port; 0 takes any free one.
    package var port: Int

    package init(host: String = "127.0.0.1", port: Int) {
        (self.host, self.port) = (host, port)
    }

    package var description: String { "\(self.host):\(self.port)" }

    /// Indicates whether only this machine can reach it.
    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(self.host) }
}

/// A value for each listener of an environment.
package struct PerListener<Value: Sendable>: Sendable {
    /// The provider API over HTTP/2: device pushes, broadcasts, channels.
    package var http2: Value
    package var deviceLink: Value
    /// The binary protocol.
    package var binary: Value
    /// The legacy feedback service.
    package var feedback: Value

    /// The values with the names of their listeners in logs, gauges and the admin API.
    var named: KeyValuePairs<String, Value> {
        ["http2": self.http2, "courier": self.deviceLink, "binary": self.binary, "feedback": self.feedback]
    }
}

extension PerListener: Equatable where Value: Equatable {}
extension PerListener: Hashable where Value: Hashable {}

extension PerListener<ListenAddress> {
    package init(host: String = "127.0.0.1", http2: Int, deviceLink: Int, binary: Int, feedback: Int) {
        self.http2 = ListenAddress(host: host, port: http2)
        self.deviceLink = ListenAddress(host: host, port: deviceLink)
        self.binary = ListenAddress(host: host, port: binary)
        self.feedback = ListenAddress(host: host, port: feedback)
    }

    /// Returns the ports that Apple uses, apart from 443; those of production are 100 higher.
    package static func usual(_ environment: PushEnvironment) -> Self {
        let shift = environment == .sandbox ? 0 : 100
        return Self(http2: 2197 + shift, deviceLink: 5223 + shift, binary: 2195 + shift, feedback: 2196 + shift)
    }

    /// Any free ports.
    package static var free: Self { Self(http2: 0, deviceLink: 0, binary: 0, feedback: 0) }
}

/// The configuration of a gateway. Every default suits a developer's machine.
package struct GatewayConfiguration: Sendable {
    /// The addresses of the listeners of one environment.
    package typealias Listeners = PerListener<ListenAddress>

    /// The folder of certificates, token keys and database; created on first start.
    package var dataDirectory: String
    /// The listeners of the environments that are served. Environments share apps, keys, certificates and devices.
    /// Default both.
    package var listeners: [PushEnvironment: Listeners] = [
        .sandbox: .usual(.sandbox), .production: .usual(.production),
    ]
    /// The address of the admin API: plain HTTP without login, hence loopback only. Default 127.0.0.1:2198.
    package var admin = ListenAddress(port: 2198)
    /// The names in the server certificate, besides the loopback addresses. Default localhost.
    package var serverNames = ["localhost"]
    /// The kind of key in the server certificate. Default P-256.
    package var serverKey = ServerKeyType.p256
    /// The limits of connections, messages and events.
    package var limits = Limits()
    /// The strictness towards providers. Default lenient.
    package var rules = ProviderRules.lenient
    /// The bytes of device tokens of apps that set no length: 32 for providers that accept no others, 0 for sealed
    /// tokens of varying length. Default 0.
    package var tokenLength = 0
    /// Indicates whether the legacy listeners accept TLS 1.0 and 1.1, for clients that know nothing newer. Default no.
    package var allowsOldTLS = false
    /// Faults from the start, each in its text form, such as `reason=TooManyRequests,percent=20`.
    package var faults: [String] = []
    /// The path of a JSON file with more faults.
    package var faultsFile: String?

    package init(dataDirectory: String) { self.dataDirectory = dataDirectory }
}

/// The ports that the listeners are bound to.
package struct GatewayAddresses: Hashable, Sendable {
    /// The ports of one environment.
    package typealias Ports = PerListener<Int>

    package var ports: [PushEnvironment: Ports]
    package var admin: Int

    /// The ports of the sandbox, or of the only environment that is served.
    package var main: Ports {
        self.ports[.sandbox] ?? self.ports[.production] ?? Ports(http2: 0, deviceLink: 0, binary: 0, feedback: 0)
    }

    package init(ports: [PushEnvironment: Ports] = [:], admin: Int = 0) {
        (self.ports, self.admin) = (ports, admin)
    }
}
