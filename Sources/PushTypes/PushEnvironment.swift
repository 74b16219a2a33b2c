/// An environment of the push service. The two share neither tokens nor the rights of credentials (APNs reference 1.1).
public enum PushEnvironment: String, CaseIterable, Hashable, Sendable, Codable {
    /// The environment of development builds, also called "development".
    case sandbox
    /// The environment of builds from TestFlight, the App Store and enterprises.
    case production

    package var other: PushEnvironment {
        switch self {
        case .production: .sandbox
        case .sandbox: .production
        }
    }
}

/// The protocol over which an app's pushes are sent to the push service.
package enum PushTransport: String, CaseIterable, Hashable, Sendable {
    /// The provider API over HTTP/2.
    case http2
    /// The legacy binary protocol, which only certificates can use (APNs reference 5).
    case binary
}

/// The address of an HTTP/1.1 proxy, with basic authentication if ``user`` is set.
///
/// A proxy opens a tunnel with CONNECT (RFC 9110 section 9.3.6). TLS runs through the tunnel from end to end, so the
/// proxy sees only the host name and the port of the push service.
public struct ProxyEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The host name or IP address of the proxy.
    public var host: String
    /// The port of the proxy.
    public var port: Int
    /// The user for basic authentication (RFC 7617), or `nil` to send no credentials.
    public var user: String?
    /// The password for basic authentication, or `nil` for an empty one. It is ignored if ``user`` is `nil`.
    public var password: String?

    /// Creates the address of a proxy from the values of its properties.
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

/// A connection that carried pushes. Each ``PushTrip`` refers to one by its index.
package struct OpenedConnection: Hashable, Sendable {
    /// The push service, as `host:port`.
    package var service: String
    /// The remote address as `address:port`, or that of the proxy if there is one. It is `nil` if it is unknown.
    package var address: String?
    /// The local port, by which packet captures and other logs identify the connection, or `nil` if it is not known.
    package var localPort: Int?
    package var openedAt: Timestamp

    package init(service: String, address: String?, localPort: Int?, openedAt: Timestamp) {
        (self.service, self.address) = (service, address)
        (self.localPort, self.openedAt) = (localPort, openedAt)
    }
}
