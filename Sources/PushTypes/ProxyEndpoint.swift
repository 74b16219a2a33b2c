/// The address of an HTTP/1.1 proxy, with basic authentication if it has a user.
///
/// A proxy opens a tunnel with CONNECT (RFC 9110 section 9.3.6). TLS is between the two ends of the tunnel, so the proxy sees
/// the host name and the port of the push service, and no content.
public struct ProxyEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host name or IP address.
    public var host: String
    /// The port.
    public var port: Int
    /// The user for basic authentication (RFC 7617); `nil` sends none.
    public var user: String?
    /// The password for basic authentication.
    public var password: String?

    /// Creates the address of a proxy.
    public init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        (self.host, self.port, self.user, self.password) = (host, port, user, password)
    }

    /// The host and the port, without user and password.
    public var description: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }
}

extension ProxyEndpoint: CustomDebugStringConvertible, CustomReflectable {
    /// The host and the port, without user and password.
    public var debugDescription: String { self.description }
    /// A mirror without children, so that `dump` shows no password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
