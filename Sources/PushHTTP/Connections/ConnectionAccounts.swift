import NIOCore
import PushSupport
import PushTypes

/// The accounts to which open connections are charged, and the order in which connections are closed to make room.
///
/// It is a value without I/O.
struct ConnectionAccounts {
    typealias ID = ObjectIdentifier

    /// A group of connections, one of which is closed to make room for a new connection.
    enum Scope: Hashable {
        case account(BudgetCaller)
        case app(Topic)
        /// The connections of those clients of an app that have more than the given number of connections.
        case clients(Topic, moreThan: Int)
        /// The connections that are charged to their network, because no request has identified another account.
        case strangers
        case all
    }

    private var owners: [ID: BudgetCaller] = [:]
    private var accounts: [BudgetCaller: Set<ID>] = [:]
    private var apps: [Topic: Int] = [:]
    private var clients: [Topic: Int] = [:]
    /// The number of connections that are charged to their network, because no request has identified another account.
    private(set) var strangers = 0

    /// Charges a connection to an account. If it was charged to another account, it is moved.
    mutating func set(_ account: BudgetCaller, of id: ID) {
        self.remove(id)
        self.owners[id] = account
        self.accounts[account, default: []].insert(id)
        if let app = account.app {
            self.apps[app, default: 0] += 1
            if account.isClient { self.clients[app, default: 0] += 1 }
        }
        if account.isStranger { self.strangers += 1 }
    }

    mutating func remove(_ id: ID) {
        guard let account = self.owners.removeValue(forKey: id) else { return }
        self.accounts[account]?.remove(id)
        if self.accounts[account]?.isEmpty == true { self.accounts[account] = nil }
        if account.isStranger { self.strangers -= 1 }
        guard let app = account.app else { return }
        Self.subtract(app, from: &self.apps)
        if account.isClient { Self.subtract(app, from: &self.clients) }
    }

    private static func subtract(_ app: Topic, from counts: inout [Topic: Int]) {
        let left = (counts[app] ?? 0) - 1
        counts[app] = left > 0 ? left : nil
    }

    func count(of account: BudgetCaller) -> Int { self.accounts[account]?.count ?? 0 }

    func count(ofAccountOf id: ID) -> Int { self.owners[id].map { self.count(of: $0) } ?? 0 }

    /// Returns the groups in which a connection to close is searched for, in this order, to make room for another
    /// connection of an app's client. The result is empty while the clients of the app, or this client, have not used
    /// up their share. It is also empty for an account that is not an app's client.
    ///
    /// The clients of an app may together have as many connections as are still free, so that the app's keys keep the
    /// rest of the app's share. One client may have as many as are then left to the clients.
    /// - Parameter free: The number of connections that can be opened without closing another one.
    func full(for account: BudgetCaller, free: Int) -> [Scope] {
        guard account.isClient, let app = account.app else { return [] }
        let own = self.count(of: account)
        guard own >= free - (self.clients[app] ?? 0) else { return [] }
        // It closes a connection of this client, or of a client that has more connections than this one would have.
        return own > 0 ? [.account(account), .clients(app, moreThan: own + 1)] : [.clients(app, moreThan: 0)]
    }

    /// Returns the connection to close for a new one. It is chosen by the first applicable cause, then by the number of
    /// connections of its app, then of its account, and finally by how long the cause has applied. An account without
    /// an app counts as an app of its own.
    /// - Parameter cause: Returns the cause for closing a connection and the time from which it has applied, or `nil`
    ///   if the connection must stay open.
    func victim<Cause: Comparable>(
        _ scope: Scope,
        _ cause: (ID) -> (cause: Cause, since: NIODeadline)?
    ) -> (id: ID, cause: Cause)? {
        if case .account(let account) = scope { return self.first(of: account, cause).map { ($0.id, $0.cause) } }
        var best: (first: (id: ID, cause: Cause, since: NIODeadline), rank: (app: Int, account: Int))?
        for (account, members) in self.accounts where scope.contains(account, members.count) {
            guard let first = self.first(of: account, cause) else { continue }
            let rank = (app: account.app.flatMap { self.apps[$0] } ?? members.count, account: members.count)
            if let best {
                if best.first.cause < first.cause { continue }
                if best.first.cause == first.cause {
                    if rank < best.rank { continue }
                    if rank == best.rank, best.first.since <= first.since { continue }
                }
            }
            best = (first, rank)
        }
        return best.map { ($0.first.id, $0.first.cause) }
    }

    private func first<Cause: Comparable>(
        of account: BudgetCaller,
        _ cause: (ID) -> (cause: Cause, since: NIODeadline)?
    ) -> (id: ID, cause: Cause, since: NIODeadline)? {
        var first: (id: ID, cause: Cause, since: NIODeadline)?
        for id in self.accounts[account] ?? [] {
            guard let (cause, since) = cause(id) else { continue }
            if let first, (first.cause, first.since) <= (cause, since) { continue }
            first = (id, cause, since)
        }
        return first
    }
}

extension ConnectionAccounts.Scope {
    fileprivate func contains(_ account: BudgetCaller, _ count: Int) -> Bool {
        switch self {
        case .account(let other): account == other
        case .app(let app): account.app == app
        case .clients(let app, let number): account.app == app && account.isClient && count > number
        case .strangers: account.isStranger
        case .all: true
        }
    }
}

extension BudgetCaller {
    /// A Boolean value that indicates whether only the network of the client is known, neither an app nor a key.
    var isStranger: Bool { self.app == nil && self.isNetwork }

    /// A Boolean value that indicates whether the client has named an app but shown no key. Such clients download or
    /// send data.
    var isClient: Bool { self.app != nil && self.isNetwork }

    private var isNetwork: Bool { if case .network = self.identity { true } else { false } }
}
