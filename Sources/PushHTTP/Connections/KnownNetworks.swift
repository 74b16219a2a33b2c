import NIOCore
import PushSupport
import PushTypes

/// The networks whose clients have shown a key or a session of late, each with the app of that.
///
/// A value without I/O.
struct KnownNetworks {
    /// The time for which a network stays known after the last connection that has shown a key.
    static let lifetime: TimeAmount = .hours(24)
    /// The maximum number of networks.
    static let maximum = 10_000

    private struct Entry {
        var app: Topic?
        var last: NIODeadline
    }

    private var entries: [BudgetCaller.Identity: Entry] = [:]

    var count: Int { self.entries.count }

    /// Returns the account of a network's new connections; `nil` for one that is not known.
    func account(of network: BudgetCaller.Identity, now: NIODeadline) -> BudgetCaller? {
        guard let entry = self.entries[network], now - entry.last < Self.lifetime else { return nil }
        return BudgetCaller(app: entry.app, network)
    }

    /// Notes that a client in a network has shown a key of an app.
    /// - Parameter app: The app; `nil` for a key of no single one.
    mutating func note(_ network: BudgetCaller.Identity, app: Topic?, now: NIODeadline) {
        if self.account(of: network, now: now) != nil {
            self.entries[network]?.last = now
            // A network of several apps counts on none of them: else one could use up what the others have there.
            if self.entries[network]?.app != app { self.entries[network]?.app = nil }
            return
        }
        if self.entries.count >= Self.maximum { self.makeRoom(now: now) }
        self.entries[network] = Entry(app: app, last: now)
    }

    /// Removes a tenth at least: what is not known any more, then the oldest ones of the apps that have the most.
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

    /// Returns the greatest number that each may have so that all fit into a whole (max-min fairness).
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
