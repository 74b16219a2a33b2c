package import NIOCore
package import PushSupport
package import PushTypes

extension SocketAddress {
    /// The bytes of an IPv4 address, or of the 64 bits that one customer has of IPv6.
    package var network: [UInt8] {
        // Family and port precede the address of `sockaddr_in`, and the flow information too that of `sockaddr_in6`.
        switch self {
        case .v4(let address):
            return withUnsafeBytes(of: address.address) { Array($0.dropFirst(4).prefix(4)) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address) { Array($0.dropFirst(8).prefix(16)) }
            // A client with IPv4 of a listener for both.
            return Array(bytes.starts(with: Self.mappedIPv4) ? bytes.suffix(4) : bytes.prefix(8))
        case .unixDomainSocket:
            return []
        }
    }

    /// Indicates whether the address says nothing of a client: behind a proxy on the same machine all have that of the proxy.
    package var isOfLocalProxy: Bool { Self.loopbacks.contains(self.network) }

    /// The networks of 127.0.0.1, ::1 and sockets of Unix.
    private static let loopbacks: [[UInt8]] = [[127, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0], []]

    /// The bytes before an IPv4 address in one of IPv6 (RFC 4291, section 2.5.5.2).
    private static let mappedIPv4: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
}

extension BudgetCaller {
    /// Creates the account of a client without a credential; `nil` for a socket without an address.
    package init?(app: Topic? = nil, from channel: any Channel) {
        // A stream of HTTP/2 has the address of its connection.
        guard let address = channel.remoteAddress ?? channel.parent?.remoteAddress else { return nil }
        self.init(app: app, .network(address.network))
    }
}
