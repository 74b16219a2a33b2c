package import Logging
package import NIOCore
package import PushSupport
import Synchronization

/// Limits the connections of a listener, each on the account of its client: its network, until a request shows a key, a person or an app.
///
/// An account that has its share gets another connection by losing one that is idle. Where the listener is full, the account that holds
/// the most loses one. Connections of which only the network is known have half of the listener, so that they leave room for others,
/// and those of networks that have shown a key a quarter besides.
/// Those that have shown an app and none of its keys leave room for the keys.
/// A new connection has a moment for its first request, in which it makes room for networks with fewer connections alone.
package final class ConnectionLimiter: Sendable {
    /// The age under which no connection is closed before its first request, or during it. An honest client shows who it is earlier.
    static let minimumAge: TimeAmount = .seconds(2)

    private struct Entry {
        let connection: LimitedConnection
        /// Indicates whether a request has shown the account. It is the first one, whatever comes later.
        var isKnown = false

        /// Returns the cause for which the connection makes room, and the time since which there is one; `nil` if it makes none.
        func cause(_ now: NIODeadline) -> (cause: LimitedConnection.Cause, since: NIODeadline)? {
            let (opened, activity) = (self.connection.opened, self.connection.activity)
            let isNew = now - opened < ConnectionLimiter.minimumAge
            if let since = activity.idleSince, activity.hasBegun || !isNew { return (.idle, since) }
            if let since = self.connection.stalledSince(now) { return (.stalled, since) }
            if let since = activity.unfinishedSince(now: now) { return (.unfinished, since) }
            return self.isKnown ? nil : (isNew ? .crowded : .unknown, opened)
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var accounts = ConnectionAccounts()

        /// Returns the entry of a connection, or of that of a stream of HTTP/2.
        func entry(of channel: any Channel) -> Entry? {
            self.entries[ObjectIdentifier(channel)] ?? channel.parent.flatMap { self.entries[ObjectIdentifier($0)] }
        }

        mutating func remove(_ id: ObjectIdentifier) {
            self.accounts.remove(id)
            self.entries.removeValue(forKey: id)?.connection.permit.end()
        }
    }

    private typealias Victim = (connection: LimitedConnection, cause: LimitedConnection.Cause)

    private enum Assignment {
        case known, assigned(LimitedConnection, [Victim]), refused(BudgetRefusal, [Victim])
    }

    /// The rates at which they are opened.
    package let rates: ConnectionRates
    private let budget: Budget
    private let maximumStrangers: Int
    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let state = Mutex(State())

    /// - Parameters:
    ///   - budgets: The budgets, among them the one of `BudgetedResource.connections`.
    ///   - maximumStrangers: The maximum number of connections of which only the network is known, half of the whole at most.
    package init(
        _ budgets: BudgetRegistry,
        maximumStrangers: Int = .max,
        logger: Logger,
        clock: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        let budget = budgets[.connections]
        var most = maximumStrangers
        if case .held(let whole) = budget.limits.bounds.whole { most = min(most, whole / 2) }
        // Half as many besides are a number too.
        (self.budget, self.maximumStrangers) = (budget, max(1, min(most, Int.max / 2)))
        (self.logger, self.clock) = (logger.rateLimited(), clock)
        self.rates = ConnectionRates(budgets, logger: logger, clock: clock)
    }

    /// Counts a connection that was just accepted, on the account of its network, until it is closed. Call it on the event loop of
    /// the connection, before it has other handlers.
    /// - Throws: `ChannelError.alreadyClosed` for a connection without room, which is being closed.
    func admit(_ channel: any Channel) throws {
        let account = BudgetCaller(from: channel) ?? BudgetCaller(.network([]))
        let (id, now, handler) = (ObjectIdentifier(channel), self.clock(), LimitedConnectionHandler())
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        // A known network would find no room where strangers take all theirs and no connection is old enough to make any. Known ones have
        // half as many besides and no more, as an app can show its key from any number of networks.
        let isKnown = self.rates.knows(channel.remoteAddress)
        let most = isKnown ? self.maximumStrangers + self.maximumStrangers / 2 : self.maximumStrangers
        let (isAdmitted, victims) = self.state.withLock { state -> (Bool, [Victim]) in
            var victims: [Victim] = []
            if state.accounts.strangers >= most {
                guard let victim = self.remove(.strangers, for: account, &state, now) else { return (false, []) }
                victims.append(victim)
            }
            guard let permit = self.permit(for: account, &state, now, &victims) else { return (false, victims) }
            state.entries[id] = Entry(connection: LimitedConnection(channel, permit, bound, now: now))
            state.accounts.set(account, of: id)
            return (true, victims)
        }
        for victim in victims { self.close(victim) }
        guard isAdmitted else {
            self.logger.warning("connection rejected, too many are open")
            channel.close(promise: nil)
            throw ChannelError.alreadyClosed
        }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.remove(id) } }
        try channel.pipeline.syncOperations.addHandler(handler, position: .first)
    }

    /// Moves a connection to the account that its first authenticated request has shown, and releases it as authenticated.
    ///
    /// Later requests cost a look, whatever their account.
    /// - Parameter channel: The connection, or a stream of HTTP/2.
    /// - Throws: `BudgetRefusal` if the account has its share, and no connection that makes room.
    package func assign(_ channel: any Channel, to account: BudgetCaller) throws(BudgetRefusal) {
        // A customer has many networks of IPv6.
        let account = account.isClient ? account.site : account
        let assignment = self.state.withLock { state -> Assignment in
            guard let entry = state.entry(of: channel), !entry.isKnown else { return .known }
            return self.assign(entry.connection, to: account, &state)
        }
        switch assignment {
        case .known: return
        case .assigned(let connection, let victims):
            for victim in victims { self.close(victim) }
            // A public key or a file's address, which anybody can show, says nothing of a network.
            if !account.isClient { self.rates.note(account, on: connection.channel) }
            UnauthenticatedConnectionBudget.markAuthenticated(connection.channel)
        case .refused(let refusal, let victims):
            for victim in victims { self.close(victim) }
            throw refusal
        }
    }

    /// Returns the activity of a connection, or of that of a stream; `nil` if it is not held.
    func activity(of channel: any Channel) -> ConnectionActivity? {
        self.state.withLock { $0.entry(of: channel)?.connection.activity }
    }

    // MARK: Room

    private func permit(
        for account: BudgetCaller,
        _ state: inout State,
        _ now: NIODeadline,
        _ victims: inout [Victim]
    ) -> BudgetPermit? {
        do throws(BudgetRefusal) {
            return try self.budget.take(for: account)
        } catch {
            let scope = Self.scope(of: error.level, account)
            guard let victim = self.remove(scope, for: account, &state, now) else { return nil }
            victims.append(victim)
            return try? self.budget.take(for: account)
        }
    }

    private func assign(
        _ connection: LimitedConnection,
        to account: BudgetCaller,
        _ state: inout State
    ) -> Assignment {
        let now = self.clock()
        var victims: [Victim] = []
        do throws(BudgetRefusal) {
            let scopes = state.accounts.full(for: account, free: self.free)
            if !scopes.isEmpty {
                var found: Victim?
                for scope in scopes where found == nil { found = self.remove(scope, for: account, &state, now) }
                guard let found else { throw self.budget.refuse(scopes.count > 1 ? .caller : .app, account) }
                victims.append(found)
            }
            do throws(BudgetRefusal) {
                try connection.permit.move(to: account)
            } catch {
                let scope = Self.scope(of: error.level, account)
                guard let victim = self.remove(scope, for: account, &state, now) else { throw error }
                victims.append(victim)
                try connection.permit.move(to: account)
            }
        } catch {
            return .refused(error, victims)
        }
        let id = ObjectIdentifier(connection.channel)
        state.entries[id]?.isKnown = true
        state.accounts.set(account, of: id)
        return .assigned(connection, victims)
    }

    /// The number of connections that are free, with the place of one that moves.
    private var free: Int {
        guard case .held(let whole) = self.budget.limits.bounds.whole else { return .max }
        return whole - self.budget.usage.held + 1
    }

    /// Returns the connections of which one makes room for another one of an account, where a level has none.
    private static func scope(of level: BudgetLevel, _ account: BudgetCaller) -> ConnectionAccounts.Scope {
        switch level {
        case .caller: .account(account)
        case .app: account.app.map { .app($0) } ?? .account(account)
        case .whole: .all
        }
    }

    /// Removes the connection that makes room: an idle one, else a stalled one, else one whose request does not come whole, else
    /// that of a stranger that has been open for long, else a new one of a network that has more than the account would have.
    private func remove(
        _ scope: ConnectionAccounts.Scope,
        for account: BudgetCaller,
        _ state: inout State,
        _ now: NIODeadline
    ) -> Victim? {
        guard let (id, cause) = state.accounts.victim(scope, { state.entries[$0]?.cause(now) }),
            let connection = state.entries[id]?.connection
        else { return nil }
        if cause == .crowded {
            guard state.accounts.count(ofAccountOf: id) > state.accounts.count(of: account) + 1 else { return nil }
        }
        state.remove(id)
        return (connection, cause)
    }

    private func close(_ victim: Victim) {
        self.logger.info("connection closed for another one", metadata: ["reason": "\(victim.cause.reason)"])
        victim.connection.close(victim.cause)
    }
}
