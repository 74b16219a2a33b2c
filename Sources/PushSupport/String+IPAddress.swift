import NIOCore

extension String {
    /// Indicates whether this is the text of an IPv4 or IPv6 address.
    package var isIPAddress: Bool {
        (try? SocketAddress(ipAddress: self, port: 0)) != nil
    }
}
