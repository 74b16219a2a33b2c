package import NIOSSL
package import PushSupport
package import PushWire

/// Where a legacy push service is, and how to deal with it.
package struct BinaryConfiguration: Sendable {
    package var host: String
    /// 2195 by default (reference 5).
    package var port: Int
    /// The name the service's certificate must bear; `nil` means its address. ``host`` by default.
    package var serverName: String?
    /// Holds the provider's certificate: it selects app and environment.
    package var tls: NIOSSLContext
    /// Form of the notifications. Default ``BinaryCommand/framed``.
    package var command = BinaryCommand.framed
    package var limits = BinaryClientStateMachine.Limits()
    /// TCP and TLS, each. Default 10 s.
    package var connectTimeout: Duration = .seconds(10)
    /// Between connections that came to nothing. Default 500 ms to 1 min.
    package var reconnect = Backoff(base: .milliseconds(500), maximum: .seconds(60))

    package init(host: String, port: Int = 2195, tls: NIOSSLContext) {
        self.host = host
        self.port = port
        self.serverName = LegacyConnection.serverName(for: host)
        self.tls = tls
    }
}
