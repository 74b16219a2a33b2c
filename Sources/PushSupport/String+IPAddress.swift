import NIOCore

extension String {
    /// A Boolean value that indicates whether the string is an IPv4 or IPv6 address.
    package var isIPAddress: Bool { (try? SocketAddress(ipAddress: self, port: 0)) != nil }

    /// The server name for a TLS handshake with this host, or `nil` for an IP address, which is not allowed as a server
    /// name (RFC 6066 section 3). The certificate must nevertheless contain the address.
    package var serverName: String? { self.isIPAddress ? nil : self }
}
