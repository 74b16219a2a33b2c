import PushSupport

/// The address of the push service and the deadlines of a ``Device``.
public struct DeviceConfiguration: Sendable {
    /// The host name or address of the push service. Default `localhost`.
    public var host: String
    /// The port of the device link. Default 5223.
    public var port: Int
    /// Indicates whether the device is in use at first, see ``Device/setActive(_:)``. Default true.
    public var isActive = true
    /// The time between keep-alives. Default 30 s.
    public var keepAlive: Duration = .seconds(30)
    /// The time limit of the TCP connection, and that of the response to *Connect*. Default 10 s.
    public var connectTimeout: Duration = .seconds(10)
    /// The upper limit of the delay before the first reconnect; it doubles with each failure. Default 1 s.
    public var reconnectBase: Duration = .seconds(1)
    /// The upper limit of any delay. Default 60 s.
    public var reconnectMaximum: Duration = .seconds(60)

    /// Makes a configuration of the defaults.
    public init(host: String = "localhost", port: Int = 5223) {
        (self.host, self.port) = (host, port)
    }

    var reconnect: Backoff { Backoff(base: self.reconnectBase, maximum: self.reconnectMaximum) }
}
