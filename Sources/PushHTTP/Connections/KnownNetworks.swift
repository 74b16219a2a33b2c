package import NIOCore
package import PushSupport
package import PushTypes

/// The networks whose clients have recently shown a key or a session, each with the app to which the key belongs. Their
/// connections have separate rates (``ConnectionRates``).
///
/// It is a value without I/O.
struct KnownNetworks {
    /// The time for which a network stays known after the last record of a key or session.
    static let lifetime: TimeAmount = .hours(24)
    /// The maximum number of known networks. To make room for another, expired ones are removed, then the oldest ones
    /// of the apps with the most networks.
    static let maximum = 10_000

    private struct Entry {
        var app: Topic?
        var last: NIODeadline
    }

    private var entries: [BudgetCaller.Identity: Entry] = [:]

    var count: Int { self.entries.count }

    /// Returns the account to which new connections of a network are charged, or `nil` if the network is not known.
    func account(of network: BudgetCaller.Identity, now: NIODeadline) -> BudgetCaller? {
        guard let entry = self.entries[network], now - entry.last < Self.lifetime else { return nil }
        return BudgetCaller(app: entry.app, network)
    }

    /// Records that a client in a network has shown a key of an app.
    /// - Parameter app: The app of the key, or `nil` for a key that is not limited to a single app.
    mutating func note(_ network: BudgetCaller.Identity, app: Topic?, now: NIODeadline) {
        if self.account(of: network, now: now) != nil {
            self.entries[network]?.last = now
            // A network with several apps is charged to none of them, so that none can use up another's share.
            if self.entries[network]?.app != app { self.entries[network]?.app = nil }
            return
        }
        if self.entries.count >= Self.maximum { self.makeRoom(now: now) }
        self.entries[network] = Entry(app: app, last: now)
    }

    /// Removes at least a tenth of the networks: the expired ones first, then the oldest of the apps with the most
    /// networks.
    private mutating func makeRoom(now: NIODeadline) {
        self.entries = self.entries.filter { now - $0.value.last < Self.lifetime }
        let apps = Dictionary(grouping: self.entries) { $0.value.app }.mapValues { entries in
            entries.sorted { $0.value.last < $1.value.last }
        }
        let share = max(1, Self.share(of: apps.values.map(\.count), in: Self.maximum * 9 / 10))
        for entries in apps.values {
            for (network, _) in entries.dropLast(share) { self.entries[network] = nil }
        }
    }

    /// Returns the maximum to which each count is capped so that the sum does not exceed `whole` (max-min fairness).
    private static func share(of counts: [Int], in whole: Int) -> Int {
        var left = whole
        for (index, count) in counts.sorted().enumerated() {
            let share = left / (counts.count - index)
            if count > share { return share }
            left -= count
        }
        return whole
    }
}

extension SocketAddress {
    /// The bytes of an IPv4 address, or the first 64 bits of an IPv6 address, which identify one customer. They are
    /// empty for a Unix domain socket.
    package var network: [UInt8] {
        // In `sockaddr_in`, family and port precede the address. In `sockaddr_in6`, the flow information does, too.
        switch self {
        case .v4(let address): return withUnsafeBytes(of: address.address) { Array($0.dropFirst(4).prefix(4)) }
        case .v6(let address):
            let bytes = withUnsafeBytes(of: address.address) { Array($0.dropFirst(8).prefix(16)) }
            // A dual-stack listener sees an IPv4 client at a mapped address.
            return Array(bytes.starts(with: Self.mappedIPv4) ? bytes.suffix(4) : bytes.prefix(8))
        case .unixDomainSocket: return []
        }
    }

    /// A Boolean value that indicates whether the address may belong to a proxy on this machine, so that it does not
    /// identify the client.
    package var isOfLocalProxy: Bool { Self.loopbacks.contains(self.network) }

    private static let loopbacks: [[UInt8]] = [[127, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0], []]

    private static let mappedIPv4: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
}

extension BudgetCaller {
    /// Creates the account of a client without a credential: its network. Returns `nil` if the socket has no address.
    package init?(app: Topic? = nil, from channel: any Channel) {
        // An HTTP/2 stream has the address of its connection.
        guard let address = channel.remoteAddress ?? channel.parent?.remoteAddress else { return nil }
        self.init(app: app, .network(address.network))
    }
}
