import NIOCore

extension String {
    /// Indicates whether this is the text of an IPv4 or IPv6 address.
    package var isIPAddress: Bool {
        (try? SocketAddress(ipAddress: self, port: 0)) != nil
    }

    /// The server name of a TLS handshake with this host. It is `nil` for an IP address, which is no server name (RFC 6066
    /// section 3); the certificate must name it all the same.
    package var serverName: String? { self.isIPAddress ? nil : self }
}
