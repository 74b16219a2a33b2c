import NIOCore
import PushSupport
import PushTypes

/// The accounts on which connections count, and the order in which those make room for others.
///
/// A value without I/O.
struct ConnectionAccounts {
    typealias ID = ObjectIdentifier

    /// The connections of which one makes room.
    enum Scope: Hashable {
        case account(BudgetCaller)
        case app(Topic)
        /// Those of networks: no request has shown another account.
        case strangers
        case all
    }

    private var owners: [ID: BudgetCaller] = [:]
    private var accounts: [BudgetCaller: Set<ID>] = [:]
    private var apps: [Topic: Int] = [:]
    /// The number of connections of networks.
    private(set) var strangers = 0

    /// Counts a connection on an account, which may have another one now.
    mutating func set(_ account: BudgetCaller, of id: ID) {
        self.remove(id)
        self.owners[id] = account
        self.accounts[account, default: []].insert(id)
        if let app = account.app { self.apps[app, default: 0] += 1 }
        if account.isStranger { self.strangers += 1 }
    }

    mutating func remove(_ id: ID) {
        guard let account = self.owners.removeValue(forKey: id) else { return }
        self.accounts[account]?.remove(id)
        if self.accounts[account]?.isEmpty == true { self.accounts[account] = nil }
        if account.isStranger { self.strangers -= 1 }
        guard let app = account.app, let count = self.apps[app] else { return }
        self.apps[app] = count > 1 ? count - 1 : nil
    }

    /// Returns the connection that makes room for another one: of the app that holds the most, of its account that holds the most,
    /// the one that has waited for the longest time. An account without an app counts as an app of its own.
    /// - Parameter since: Returns the time since which a connection waits; `nil` for one that makes no room.
    func victim(_ scope: Scope, since: (ID) -> NIODeadline?) -> ID? {
        if case .account(let account) = scope { return self.longest(of: account, since)?.id }
        var best: (rank: (app: Int, account: Int), since: NIODeadline, id: ID)?
        for (account, members) in self.accounts where scope.contains(account) {
            let app = account.app.flatMap { self.apps[$0] } ?? members.count
            let rank = (app: app, account: members.count)
            if let best, rank < best.rank { continue }
            guard let longest = self.longest(of: account, since) else { continue }
            if let best, rank == best.rank, longest.since >= best.since { continue }
            best = (rank, longest.since, longest.id)
        }
        return best?.id
    }

    private func longest(of account: BudgetCaller, _ since: (ID) -> NIODeadline?) -> (id: ID, since: NIODeadline)? {
        var longest: (id: ID, since: NIODeadline)?
        for id in self.accounts[account] ?? [] {
            guard let time = since(id) else { continue }
            if let longest, time >= longest.since { continue }
            longest = (id, time)
        }
        return longest
    }
}

extension ConnectionAccounts.Scope {
    fileprivate func contains(_ account: BudgetCaller) -> Bool {
        switch self {
        case .account(let other): account == other
        case .app(let app): account.app == app
        case .strangers: account.isStranger
        case .all: true
        }
    }
}

extension BudgetCaller {
    /// Indicates whether nothing is known of the client but its network.
    var isStranger: Bool {
        guard self.app == nil, case .network = self.identity else { return false }
        return true
    }
}
