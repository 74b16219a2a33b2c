import NIOCore

/// How a ``Sender`` uses its push service. The defaults follow Apple's advice (reference 1.11).
public struct SenderConfiguration: Sendable {
    /// Connections open at the same time. Default 4; they are opened only as the load needs them, and then kept.
    public var maximumConnections = 4
    /// Requests in flight on each connection; the service's own limit holds besides. Default 1000.
    public var maximumInFlight = 1000
    /// Pushes that may wait for a connection; more are not sent. Default 1,000,000.
    public var maximumWaiting = 1_000_000
    /// How long a push waits for a connection that takes it, before it counts as not sent. Default 30 s.
    public var waitTimeout: Duration = .seconds(30)
    /// From the end of the TLS handshake to the service's first frame. Default 10 s.
    public var handshakeTimeout: Duration = .seconds(10)
    /// From a request to its reply; then its outcome is unknown. Default 30 s.
    public var replyTimeout: Duration = .seconds(30)
    /// For replies that are still awaited when a connection is to end. Default 30 s.
    public var drainTimeout: Duration = .seconds(30)
    /// Silence before the connection is probed with a PING while replies are awaited. Default 10 s.
    public var pingAfter: Duration = .seconds(10)
    /// Silence before a PING while nothing is in flight: short enough for most firewalls. Default 60 s.
    public var idlePingAfter: Duration = .seconds(60)
    /// Delay between attempts to connect: doubles from the first to the second value, with full jitter. Default 1 s to
    /// 60 s.
    public var reconnectBase: Duration = .seconds(1)
    public var reconnectMaximum: Duration = .seconds(60)
    /// An HTTP proxy that gives tunnels (CONNECT). Default none.
    public var proxy: ProxyEndpoint?

    public init() {}

    var limits: HTTP2ClientLimits {
        var limits = HTTP2ClientLimits()
        limits.maximumConcurrentStreams = max(1, self.maximumInFlight)
        limits.handshakeTimeout = .init(self.handshakeTimeout)
        limits.replyTimeout = .init(self.replyTimeout)
        limits.drainTimeout = .init(self.drainTimeout)
        limits.pingAfter = .init(self.pingAfter)
        limits.idlePingAfter = .init(self.idlePingAfter)
        return limits
    }
}

/// An HTTP/1.1 proxy, with basic authentication if it has a user.
public struct ProxyEndpoint: Hashable, Sendable, CustomStringConvertible {
    public var host: String
    public var port: Int
    public var user: String?
    public var password: String?

    public init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }

    /// Without the password.
    public var description: String { "\(self.host):\(self.port)" }
}
