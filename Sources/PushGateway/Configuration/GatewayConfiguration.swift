package import PushHTTP
import PushSupport
package import PushTypes
package import PushWire

package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    /// The port. 0 stands for any free port.
    package var port: Int

    package init(host: String = "127.0.0.1", port: Int) { (self.host, self.port) = (host, port) }

    package var description: String { "\(self.host):\(self.port)" }

    /// A Boolean value that indicates whether the address is reachable from this machine only.
    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(self.host) }
}

/// One value for each listener of an environment, such as its port.
package struct PerListener<Value: Sendable>: Sendable {
    /// The value for the provider API over HTTP/2: device pushes, broadcasts and channels.
    package var http2: Value
    package var deviceLink: Value
    /// The value for the binary protocol.
    package var binary: Value
    /// The value for the legacy feedback service.
    package var feedback: Value

    /// The values, each with the name that its listener has in logs, gauges and the admin API.
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

    /// Returns the ports that Apple uses, but 2197 instead of 443. Those of production are 100 higher than those of the
    /// sandbox.
    package static func usual(_ environment: PushEnvironment) -> Self {
        let shift = environment == .sandbox ? 0 : 100
        return Self(http2: 2197 + shift, deviceLink: 5223 + shift, binary: 2195 + shift, feedback: 2196 + shift)
    }

    /// The port 0 for every listener, so that each is bound to any free port.
    package static var free: Self { Self(http2: 0, deviceLink: 0, binary: 0, feedback: 0) }
}

/// The configuration of a gateway. Every default suits a developer's machine.
package struct GatewayConfiguration: Sendable {
    package typealias Listeners = PerListener<ListenAddress>

    /// The path of the folder for certificates, token keys and the database. The gateway creates it at the first start.
    package var dataDirectory: String
    /// The listener addresses of each environment that is served. Environments share apps, keys, certificates and
    /// devices. By default, both are served.
    package var listeners: [PushEnvironment: Listeners] = [
        .sandbox: .usual(.sandbox), .production: .usual(.production),
    ]
    /// The address of the admin API. It must be a loopback address, because the API is plain HTTP without a login.
    /// Default 127.0.0.1:2198.
    package var admin = ListenAddress(port: 2198)
    /// The names in the server certificate, besides the loopback addresses. Default localhost.
    package var serverNames = ["localhost"]
    /// The kind of key in the server certificate. Default P-256.
    package var serverKey = ServerKeyType.p256
    package var limits = Limits()
    /// The rules by which requests of providers are checked. Default lenient.
    package var rules = ProviderRules.lenient
    /// The length of device tokens, in bytes, for apps that set none. It is 32 for apps whose providers accept no other
    /// length, or 0 for encrypted tokens of varying length. Default 0.
    package var tokenLength = 0
    /// A Boolean value that indicates whether the legacy listeners accept TLS 1.0 and 1.1, for clients that support
    /// nothing newer. Default `false`.
    package var allowsOldTLS = false
    /// The faults that apply from the start, each in its text form, such as `reason=TooManyRequests,percent=20`.
    package var faults: [String] = []
    /// The path of a JSON file with further faults that apply from the start, or `nil` if there is none.
    package var faultsFile: String?

    package init(dataDirectory: String) { self.dataDirectory = dataDirectory }
}

/// The kind of key of the gateway's server certificate.
package enum ServerKeyType: String, CaseIterable, Sendable {
    case p256
    /// RSA of 2,048 bits, for clients without elliptic curves.
    case rsa
}

package struct GatewayAddresses: Hashable, Sendable {
    package typealias Ports = PerListener<Int>

    package var ports: [PushEnvironment: Ports]
    package var admin: Int

    /// The ports of the sandbox, or those of production if the sandbox is not served.
    package var main: Ports {
        self.ports[.sandbox] ?? self.ports[.production] ?? Ports(http2: 0, deviceLink: 0, binary: 0, feedback: 0)
    }

    package init(ports: [PushEnvironment: Ports] = [:], admin: Int = 0) { (self.ports, self.admin) = (ports, admin) }
}

extension GatewayConfiguration {
    package struct Limits: Sendable {
        /// The maximum number of open connections of each listener. Further ones are closed. Default 20,000.
        package var connections = 20_000
        /// The maximum time from TCP accept to the end of the TLS handshake. Then the connection is closed. Default 10
        /// s.
        package var handshake: Duration = .seconds(10)
        /// The maximum time from the first frame of a request to its last. A slower request fails. Default 30 s.
        package var request: Duration = .seconds(30)
        /// The limits of unauthenticated connections over all listeners: the memory that they use together in bytes,
        /// their number, and the duration of each. Default 8 MiB, 4,096, 60 s.
        package var unauthenticated = UnauthenticatedConnectionStateMachine.Limits()
        /// The maximum time between two requests of a connection to the admin API, after which the connection is
        /// closed. Default 60 s.
        package var adminIdle: Duration = .seconds(60)
        /// The maximum time for which shutdown waits for running requests to the admin API. Default 2 s.
        package var adminDrain: Duration = .seconds(2)
        /// The maximum number of unacknowledged messages of a device. Further pushes to the device are rejected with
        /// status 429. Default 2,000.
        package var unacknowledged = 2000
        /// The maximum number of events in the log, of about 100 bytes each. The oldest are removed. Default 1,000,000.
        package var events = 1_000_000
        /// The age at which events are removed from the log. Default 7 days, as in Apple's delivery log (reference
        /// 7.3).
        package var eventAge: Duration = .seconds(7 * 86_400)
        /// The interval at which a device that is not in use is woken for messages held to save power. Default 15 min.
        package var powerWindow: Duration = .seconds(15 * 60)
        /// The maximum number of background notifications per hour, device and topic. Further ones are held. Default
        /// `nil`: no limit.
        package var backgroundPerHour: Int?
        package var deviceLink = DeviceLinkServerStateMachine.Limits()

        package init() {}
    }
}

/// An error that prevents the start of a gateway.
package enum GatewayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error if the address of a listener is in use or does not belong to this machine.
    case cannotListen(listener: String, address: String, why: String)
    /// The error if a file in the data directory is damaged or was not written by the gateway.
    case badFile(path: String, why: String)
    /// The error if another gateway uses this data directory.
    case dataDirectoryInUse(String)
    /// The error if the admin API, which has no login, is configured with an address that other machines can reach.
    case adminNotLoopback(String)
    /// The error if a fault in the configuration is invalid.
    case badFault(String, why: String)
    /// The error if the gateway stopped before its listeners were open.
    case ended

    static func cannotListen(_ listener: String, _ address: ListenAddress, _ error: any Error) -> GatewayError {
        .cannotListen(listener: listener, address: "\(address)", why: ErrorDescription.of(error))
    }

    package var description: String {
        switch self {
        case .cannotListen(let listener, let address, let why): "the \(listener) listener cannot use \(address): \(why)"
        case .badFile(let path, let why): "\(path) cannot be used: \(why)"
        case .dataDirectoryInUse(let path): "another gateway is using the data directory \(path)"
        case .adminNotLoopback(let host):
            "the admin API has no login, so it listens on 127.0.0.1, ::1 or localhost only, not on \(host)"
        case .badFault(let text, let why): "the fault '\(text)' cannot be used: \(why)"
        case .ended: "the gateway ended before its listeners were open"
        }
    }
}
