import PushSupport
public import PushTypes

/// The address of the push service and the deadlines of a ``Device``.
public struct DeviceConfiguration: Sendable {
    /// The host name or address of the push service. Default `localhost`.
    public var host: String
    /// The port of the device link. Default 5223.
    public var port: Int
    /// The port that is tried when there is no connection on ``port``; `nil` for none. Apple's devices use 443.
    ///
    /// After a minute on it, and then less often, a reconnect tries the first port again.
    public var fallbackPort: Int?
    /// Indicates whether the device is in use at first, see ``Device/setActive(_:)``. Default true.
    public var isActive = true
    /// The time between keep-alives. Default 30 s.
    public var keepAlive: Duration = .seconds(30)
    /// The time limit of the TCP connection with a proxy's tunnel, and that of the response to *Connect*. Default 10 s.
    public var connectTimeout: Duration = .seconds(10)
    /// The upper limit of the delay before the first reconnect; it doubles with each failure. Default 1 s.
    public var reconnectBase: Duration = .seconds(1)
    /// The upper limit of any delay. Default 60 s.
    public var reconnectMaximum: Duration = .seconds(60)

    /// The HTTP proxy that tunnels the connections. Default none.
    ///
    /// The host must then be a name: an address in the certificate of the push service could not be checked.
    public var proxy: ProxyEndpoint?

    /// Makes a configuration of the defaults.
    public init(host: String = "localhost", port: Int = 5223) {
        (self.host, self.port) = (host, port)
    }

    var reconnect: Backoff { Backoff(base: self.reconnectBase, maximum: self.reconnectMaximum) }
}

/// The address of an HTTP/1.1 proxy, with basic authentication if it has a user.
public typealias ProxyEndpoint = PushTypes.ProxyEndpoint
