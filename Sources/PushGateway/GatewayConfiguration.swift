package import PushProtocol

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
    /// Holds authority, certificates, token key and database; made on first start.
    package var dataDirectory: String
    /// Which world's tokens it mints and takes. Default sandbox.
    package var environment: PushEnvironment = .sandbox
    /// Provider API over HTTP/2. Default 127.0.0.1:2197.
    package var http2 = ListenAddress(port: 2197)
    /// Device link. Default 127.0.0.1:5223.
    package var courier = ListenAddress(port: 5223)
    /// Admin door, plain HTTP; loopback only, as it asks for no login. Default 127.0.0.1:2198.
    package var admin = ListenAddress(port: 2198)
    /// Names in the server certificate, besides the loopback addresses. Default localhost.
    package var serverNames = ["localhost"]
    package var limits = Limits()

    package struct Limits: Sendable {
        /// Open connections per door; more are closed at once. Default 10,000.
        package var connections = 10_000
        /// From TCP accept to the end of the TLS handshake. Default 10 s.
        package var handshake: Duration = .seconds(10)
        /// From the first frame of a request to its last. Default 30 s.
        package var request: Duration = .seconds(30)
        /// Between two requests at the admin door. Default 60 s.
        package var adminIdle: Duration = .seconds(60)
        /// Messages that a device may leave unacknowledged; more wait in the store. Default 100.
        package var unacknowledged = 100
        /// Events kept per device. Default 1,000.
        package var eventsPerDevice = 1_000
        package var courier = CourierServiceMachine.Limits()

        package init() {}
    }

    package init(dataDirectory: String) {
        self.dataDirectory = dataDirectory
    }
}

/// The ports that the doors are bound to.
package struct GatewayAddresses: Hashable, Sendable {
    package var http2Port: Int
    package var courierPort: Int
    package var adminPort: Int

    package init(http2Port: Int, courierPort: Int, adminPort: Int) {
        self.http2Port = http2Port
        self.courierPort = courierPort
        self.adminPort = adminPort
    }
}
