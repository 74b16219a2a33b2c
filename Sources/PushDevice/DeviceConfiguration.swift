import PushSupport

/// Where the push service is and how patient the device is with it.
public struct DeviceConfiguration: Sendable {
    /// Default `localhost`.
    public var host: String
    /// Default 5223.
    public var port: Int
    /// Whether the device is in use. One that is not gets less urgent notifications later. Default true.
    public var isActive = true
    /// Between keep-alives. Default 30 s.
    public var keepAlive: Duration = .seconds(30)
    /// TCP and TLS. Default 10 s.
    public var connectTimeout: Duration = .seconds(10)
    /// Upper limit of the delay before the first reconnect. Default 1 s; it doubles with each failure.
    public var reconnectBase: Duration = .seconds(1)
    /// Upper limit of any delay. Default 60 s.
    public var reconnectMaximum: Duration = .seconds(60)

    public init(host: String = "localhost", port: Int = 5223) {
        self.host = host
        self.port = port
    }

    var reconnect: Backoff { Backoff(base: self.reconnectBase, maximum: self.reconnectMaximum) }
}
