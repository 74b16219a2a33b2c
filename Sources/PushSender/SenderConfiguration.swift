import NIOCore
public import PushTypes
import PushWire

/// The limits and timeouts of a ``Sender``. The defaults follow Apple's advice (APNs reference 1.11).
public struct SenderConfiguration: Sendable {
    /// The maximum number of connections. They are opened as the load requires, and kept open. If all are busy, pushes
    /// wait. Default 4.
    public var maximumConnections = 4
    /// The maximum number of requests in flight on each connection. The service's limit also applies. Default 1000.
    public var maximumInFlight = 1000
    /// The maximum number of pushes that wait for a connection. The outcome of further ones is ``Outcome/notSent(_:)``.
    /// Default 1,000,000.
    public var maximumWaiting = 1_000_000
    /// The maximum time for which a push waits for a connection. After that, its outcome is ``Outcome/notSent(_:)``.
    /// Default 30 s.
    public var waitTimeout: Duration = .seconds(30)
    /// The maximum time from the end of the TLS handshake to the service's first frame. After that, the connection is
    /// closed. Default 10 s.
    public var handshakeTimeout: Duration = .seconds(10)
    /// The maximum time from a request to its response. After that, the outcome is unknown. Default 30 s.
    public var responseTimeout: Duration = .seconds(30)
    /// The maximum time for which a connection that is being closed waits for outstanding responses. After that, their
    /// outcomes are unknown. Default 30 s.
    public var drainTimeout: Duration = .seconds(30)
    /// The time without received data after which a PING is sent while requests are in flight. Default 10 s.
    public var pingAfter: Duration = .seconds(10)
    /// The time without received data after which a PING is sent while no request is in flight, so that most firewalls
    /// keep the connection open. Default 60 s.
    public var idlePingAfter: Duration = .seconds(60)
    /// The maximum delay before the second attempt to connect. It doubles with each failure. The actual delay is a
    /// random part of it. Default 1 s.
    public var reconnectBase: Duration = .seconds(1)
    /// The maximum delay before any attempt to connect. Default 60 s.
    public var reconnectMaximum: Duration = .seconds(60)
    /// The HTTP proxy that tunnels the connections (CONNECT, RFC 9110 section 9.3.6), or `nil`, the default, for none.
    public var proxy: ProxyEndpoint?
    /// A Boolean value that indicates whether the waiting pushes fail as soon as a connection cannot be opened. Default
    /// `false`, which means that another attempt is made.
    package var failsFast = false

    /// The maximum time until the outcome of a push that tests a credential is known. Default 10 s.
    package var testTimeout: Duration = .seconds(10)

    /// Creates a configuration with the default values.
    public init() {}

    /// The configuration of a sender that tests a credential: one connection, and short timeouts.
    var forTests: SenderConfiguration {
        var configuration = self
        configuration.maximumConnections = 1
        configuration.failsFast = true
        configuration.waitTimeout = min(self.waitTimeout, self.testTimeout)
        configuration.handshakeTimeout = min(self.handshakeTimeout, self.testTimeout / 2)
        configuration.responseTimeout = min(self.responseTimeout, self.testTimeout / 2)
        configuration.drainTimeout = min(self.drainTimeout, .seconds(1))
        return configuration
    }

    var limits: HTTP2ClientLimits {
        var limits = HTTP2ClientLimits()
        limits.maximumConcurrentStreams = max(1, self.maximumInFlight)
        limits.handshakeTimeout = .init(self.handshakeTimeout)
        limits.responseTimeout = .init(self.responseTimeout)
        limits.drainTimeout = .init(self.drainTimeout)
        limits.pingAfter = .init(self.pingAfter)
        limits.idlePingAfter = .init(self.idlePingAfter)
        return limits
    }
}

/// The address of an HTTP/1.1 proxy, with basic authentication if it has a user.
public typealias ProxyEndpoint = PushTypes.ProxyEndpoint

/// The state of a ``Sender`` at one point in time.
public struct SenderStatistics: Hashable, Sendable {
    /// The number of connections that can take pushes.
    public var connections: Int
    /// The number of pushes that wait for a connection.
    public var waiting: Int
    /// A readable description of the last connection failure, or `nil` before the first one.
    public var lastFailure: String?
}
