package import PushHTTP
package import PushTypes
package import PushWire

/// An address and port to listen on.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
    package var host: String
    /// 0 takes any free port.
    package var port: Int

    package init(host: String = "127.0.0.1", port: Int) {
        self.host = host
        self.port = port
    }

    package var description: String { "\(self.host):\(self.port)" }

    /// Whether only this machine can reach it.
    var isLoopback: Bool { ["127.0.0.1", "::1", "localhost"].contains(self.host) }
}

/// How a gateway runs. Every default suits a developer's machine.
package struct GatewayConfiguration: Sendable {
    /// Where the doors of one environment listen.
    package struct Doors: Hashable, Sendable {
        /// Provider API over HTTP/2: device pushes, broadcasts, channels.
        package var http2: ListenAddress
        /// Device link.
        package var courier: ListenAddress
        /// Legacy binary interface.
        package var binary: ListenAddress
        /// Legacy feedback service.
        package var feedback: ListenAddress

        package init(host: String = "127.0.0.1", http2: Int, courier: Int, binary: Int, feedback: Int) {
            self.http2 = ListenAddress(host: host, port: http2)
            self.courier = ListenAddress(host: host, port: courier)
            self.binary = ListenAddress(host: host, port: binary)
            self.feedback = ListenAddress(host: host, port: feedback)
        }

        /// The ports that Apple uses, apart from 443; production's are 100 higher.
        package static func usual(_ environment: PushEnvironment) -> Doors {
            let shift = environment == .sandbox ? 0 : 100
            return Doors(http2: 2197 + shift, courier: 5223 + shift, binary: 2195 + shift, feedback: 2196 + shift)
        }

        /// Any free ports.
        package static let free = Doors(http2: 0, courier: 0, binary: 0, feedback: 0)
    }

    /// Holds authority, certificates, token keys and database; made on first start.
    package var dataDirectory: String
    /// The environments it serves, which share nothing but apps, keys, certificates and devices. Default both.
    package var doors: [PushEnvironment: Doors] = [.sandbox: .usual(.sandbox), .production: .usual(.production)]
    /// Admin door, plain HTTP; loopback only, as it asks for no login. Default 127.0.0.1:2198.
    package var admin = ListenAddress(port: 2198)
    /// Names in the server certificate, besides the loopback addresses. Default localhost.
    package var serverNames = ["localhost"]
    /// The kind of key in the server certificate. Default P-256.
    package var serverKey = ServerKeyType.p256
    package var limits = Limits()
    /// How exactly providers have to keep the rules. Default lenient.
    package var rules = ProviderRules.lenient
    /// Bytes of the device tokens of apps that do not say: 32 for providers that can take no others, 0 for sealed ones of
    /// varying length. Default 0.
    package var tokenLength = 0
    /// Whether the legacy doors take TLS 1.0 and 1.1, for clients that can do no better. Default no.
    package var allowsOldTLS = false
    /// Faults from the start on, each in its text form, such as `reason=TooManyRequests,percent=20`.
    package var faults: [String] = []
    /// A JSON file with more of them.
    package var faultsFile: String?

    package struct Limits: Sendable {
        /// Open connections per door; more are closed at once. Default 20,000.
        package var connections = 20_000
        /// From TCP accept to the end of the TLS handshake. Default 10 s.
        package var handshake: Duration = .seconds(10)
        /// From the first frame of a request to its last. Default 30 s.
        package var request: Duration = .seconds(30)
        /// The bytes that connections without a valid credential may hold together, over all listeners; their number, and their time
        /// to show one. Default 8 MiB, 4,096, 60 s.
        package var unproven = UnauthenticatedStateMachine.Limits()
        /// Between two requests at the admin door. Default 60 s.
        package var adminIdle: Duration = .seconds(60)
        /// The time that requests at the admin door may take once the gateway is to end. Default 2 s.
        package var adminFarewell: Duration = .seconds(2)
        /// Messages that a device may leave unacknowledged; pushes beyond that are answered 429. Default 2,000.
        package var unacknowledged = 2000
        /// Events kept. Default 1,000,000.
        package var events = 1_000_000
        /// How long events are kept. Default 7 days.
        package var eventAge: Duration = .seconds(7 * 86_400)
        /// A device that is not in use is woken this often for what may wait. Default 15 min.
        package var powerWindow: Duration = .seconds(15 * 60)
        /// Background notifications per hour, device and topic. Default: no limit.
        package var backgroundPerHour: Int?
        package var courier = DeviceLinkServerStateMachine.Limits()

        package init() {}
    }

    package init(dataDirectory: String) {
        self.dataDirectory = dataDirectory
    }
}

/// The ports that the doors are bound to.
package struct GatewayAddresses: Hashable, Sendable {
    package struct Doors: Hashable, Sendable {
        package var http2: Int
        package var courier: Int
        package var binary: Int
        package var feedback: Int
    }

    package var doors: [PushEnvironment: Doors]
    package var admin: Int

    /// The sandbox's, or those of the only environment there is.
    package var main: Doors {
        self.doors[.sandbox] ?? self.doors[.production] ?? Doors(http2: 0, courier: 0, binary: 0, feedback: 0)
    }

    package init(doors: [PushEnvironment: Doors] = [:], admin: Int = 0) {
        self.doors = doors
        self.admin = admin
    }
}
