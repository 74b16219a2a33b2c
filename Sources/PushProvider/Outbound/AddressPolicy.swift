/// Decides to which addresses the URLs from API callers may lead, so that none reaches the provider's own network.
package struct AddressPolicy: Hashable, Sendable {
    /// A Boolean value that indicates whether private addresses, any port and `http` are allowed. Default `false`.
    package var allowsPrivate: Bool
    /// A Boolean value that indicates whether `http` to public addresses is allowed. Default `false`.
    package var allowsPlainHTTP: Bool

    package init(allowsPrivate: Bool = false, allowsPlainHTTP: Bool = false) {
        (self.allowsPrivate, self.allowsPlainHTTP) = (allowsPrivate, allowsPlainHTTP)
    }

    /// Returns whether requests may be sent to this address.
    package func allows(_ address: IPAddress) -> Bool { self.allowsPrivate || Self.isPublic(address) }

    /// Returns an allowed address of a host name, a different one for each attempt, or `nil` if none is allowed.
    package func choice(of addresses: [IPAddress], attempt: Int) -> IPAddress? {
        let allowed = addresses.filter(self.allows)
        return allowed.isEmpty ? nil : allowed[Int(attempt.magnitude % UInt(allowed.count))]
    }

    /// Returns whether requests may be sent to this port. Below 1024 only the ports of HTTP and HTTPS are allowed, so
    /// that other servers, such as mail servers, cannot be reached.
    package func allows(port: Int) -> Bool {
        let isWeb = port == 80 || port == 443 || port >= 1024
        return (1...65535).contains(port) && (self.allowsPrivate || isWeb)
    }

    var allowsHTTP: Bool { self.allowsPrivate || self.allowsPlainHTTP }

    /// Returns whether an address is a unicast address that the whole internet can reach (IANA registries, RFC 6890).
    ///
    /// For IPv6, only 2000::/3 is allowed: not loopback, unique-local, link-local, multicast, IPv4-mapped
    /// (::ffff:0:0/96) or NAT64 (64:ff9b::/96) addresses, of which the latter two may embed any IPv4 address.
    static func isPublic(_ address: IPAddress) -> Bool {
        if address.bytes.count == 4 { return !self.special4.contains { address.hasPrefix($0.0, length: $0.1) } }
        return self.global6.contains { address.hasPrefix($0.0, length: $0.1) }
            && !self.special6.contains { address.hasPrefix($0.0, length: $0.1) }
    }

    // swift-format-ignore
    private static let special4 = ranges([
        ("0.0.0.0", 8),        // this network, unspecified
        ("10.0.0.0", 8),       // private
        ("100.64.0.0", 10),    // shared by carriers
        ("127.0.0.0", 8),      // loopback
        ("169.254.0.0", 16),   // link-local; metadata services of clouds
        ("172.16.0.0", 12),    // private
        ("192.0.0.0", 24),     // protocol assignments
        ("192.0.2.0", 24),     // documentation
        ("192.88.99.0", 24),   // 6to4 relays, withdrawn
        ("192.168.0.0", 16),   // private
        ("198.18.0.0", 15),    // benchmarks
        ("198.51.100.0", 24),  // documentation
        ("203.0.113.0", 24),   // documentation
        ("224.0.0.0", 4),      // multicast
        ("240.0.0.0", 4),      // reserved, broadcast
    ])

    private static let global6 = ranges([("2000::", 3)])

    // swift-format-ignore
    private static let special6 = ranges([
        ("2001::", 23),        // protocol assignments: Teredo, benchmarks, ORCHID
        ("2001:db8::", 32),    // documentation
        ("2002::", 16),        // 6to4: an IPv4 address of any kind
        ("3fff::", 20),        // documentation
    ])

    private static func ranges(_ ranges: [(String, Int)]) -> [(IPAddress, Int)] {
        ranges.compactMap { text, length in IPAddress(text).map { ($0, length) } }
    }
}
