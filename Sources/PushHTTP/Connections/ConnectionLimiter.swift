package import Logging
package import NIOCore
package import PushSupport
import Synchronization

/// Limits the connections of a listener. Each connection is charged to the account of its client, which is that of the
/// client's network until a request identifies a key, a person or an app.
///
/// If an account has used up its share, one of its idle connections is closed for a new one. If the listener is full, a
/// connection of the account with the most connections is closed. Connections of unknown networks may take half of the
/// listener, and those of networks that have shown a key another quarter. The clients of an app leave room for
/// connections with the app's keys. A connection before its first request is closed only for a network with fewer
/// connections.
package final class ConnectionLimiter: Sendable {
    /// The age below which a connection is not closed for another one before or during its first request, because
    /// honest clients need less time for it.
    static let minimumAge: TimeAmount = .seconds(2)

    private struct Entry {
        let connection: LimitedConnection
        /// A Boolean value that indicates whether a request has identified the account, which later requests do not
        /// change.
        var isKnown = false

        /// Returns the cause for closing the connection, and the time from which it has applied, or `nil` if there is
        /// none.
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

        /// Returns the entry of a connection or of an HTTP/2 stream's connection, or `nil` if no account is charged.
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

    /// The limits on the rate of new connections, which are checked before the limits on open connections.
    package let rates: ConnectionRates
    private let budget: Budget
    private let maximumStrangers: Int
    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let state = Mutex(State())

    /// Creates a limiter without connections.
    /// - Parameters:
    ///   - budgets: The budgets, including that of `BudgetedResource.connections`.
    ///   - maximumStrangers: The maximum number of connections of unknown networks. It is at most half of all
    ///     connections.
    package init(
        _ budgets: BudgetRegistry,
        maximumStrangers: Int = .max,
        logger: Logger,
        clock: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        let budget = budgets[.connections]
        var most = maximumStrangers
        if case .held(let whole) = budget.limits.bounds.whole { most = min(most, whole / 2) }
        // One and a half times the maximum must not overflow.
        (self.budget, self.maximumStrangers) = (budget, max(1, min(most, Int.max / 2)))
        (self.logger, self.clock) = (logger.rateLimited(), clock)
        self.rates = ConnectionRates(budgets, logger: logger, clock: clock)
    }

    /// Charges a new connection to its network until the connection is closed. This method must be called on the event
    /// loop of the connection, before other handlers are added.
    /// - Throws: `ChannelError.alreadyClosed` if there was no room, in which case the connection is closed.
    func admit(_ channel: any Channel) throws {
        let account = BudgetCaller(from: channel) ?? BudgetCaller(.network([]))
        let (id, now, handler) = (ObjectIdentifier(channel), self.clock(), LimitedConnectionHandler())
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        // A known network would find no room if strangers had used up theirs and no connection were old enough to be
        // closed. Therefore known networks may use half as many again, but no more, because an app can show its key
        // from any number of networks.
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

    /// Charges a connection to the account of its first authenticated request, and marks it as authenticated.
    ///
    /// Later requests on the connection do not change the account.
    /// - Parameter channel: The connection, or an HTTP/2 stream of the connection.
    /// - Throws: `BudgetRefusal` if the account has used up its share and none of its connections can be closed.
    package func assign(_ channel: any Channel, to account: BudgetCaller) throws(BudgetRefusal) {
        // One customer may have many IPv6 networks.
        let account = account.isClient ? account.site : account
        let assignment = self.state.withLock { state -> Assignment in
            guard let entry = state.entry(of: channel), !entry.isKnown else { return .known }
            return self.assign(entry.connection, to: account, &state)
        }
        switch assignment {
        case .known: return
        case .assigned(let connection, let victims):
            for victim in victims { self.close(victim) }
            // Anyone can show a public key or the URL of a file, so these do not make a network known.
            if !account.isClient { self.rates.note(account, on: connection.channel) }
            UnauthenticatedConnectionBudget.markAuthenticated(connection.channel)
        case .refused(let refusal, let victims):
            for victim in victims { self.close(victim) }
            throw refusal
        }
    }

    /// Returns the activity of a connection, or of a stream's connection, or `nil` if no account is charged.
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

    private func assign(_ connection: LimitedConnection, to account: BudgetCaller, _ state: inout State) -> Assignment {
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

    private var free: Int {
        guard case .held(let whole) = self.budget.limits.bounds.whole else { return .max }
        return whole - self.budget.usage.held + 1
    }

    /// Returns the group of connections from which one is closed for an account's new connection, when the given level
    /// of the budget is full.
    private static func scope(of level: BudgetLevel, _ account: BudgetCaller) -> ConnectionAccounts.Scope {
        switch level {
        case .caller: .account(account)
        case .app: account.app.map { .app($0) } ?? .account(account)
        case .whole: .all
        }
    }

    /// Removes and returns the connection to close to make room, or `nil` if none may be closed. Preference goes to an
    /// idle connection, then to a stalled one, one with an unfinished request, an old one of an unknown network, and a
    /// new one of a network that has more connections than the account would have.
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

/// A connection that a ``ConnectionLimiter`` charges to an account.
final class LimitedConnection: Sendable {
    /// The cause for closing a connection to make room. Connections with an earlier cause are closed first.
    enum Cause: Int, Comparable {
        case idle, stalled, unfinished, unknown, crowded

        var reason: String {
            switch self {
            case .idle: "it had no request"
            case .stalled: "its client has not read its response for a while"
            case .unfinished: "the rest of its request has not come for a while"
            case .unknown: "it had shown no valid credential"
            case .crowded: "its network had more of them than others"
            }
        }

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    let channel: any Channel
    let permit: BudgetPermit
    let opened: NIODeadline
    let activity: ConnectionActivity
    private let handler: NIOLoopBound<LimitedConnectionHandler>

    init(
        _ channel: any Channel,
        _ permit: BudgetPermit,
        _ handler: NIOLoopBound<LimitedConnectionHandler>,
        now: NIODeadline
    ) {
        (self.channel, self.permit, self.handler) = (channel, permit, handler)
        (self.opened, self.activity) = (now, ConnectionActivity(now: now))
    }

    /// Returns the time at which the client last read a part of its response, or `nil` if it reads in time or no bytes
    /// wait.
    func stalledSince(_ now: NIODeadline) -> NIODeadline? {
        self.activity.stalledSince(now: now, isWritable: self.channel.isWritable)
    }

    /// Closes the connection, on its event loop. If a request has arrived since the connection was chosen, it may
    /// finish within ``ConnectionLimiter/minimumAge``, but not later, because no account is charged for the connection
    /// any more.
    func close(_ cause: Cause) {
        self.handler.eventLoop.execute {
            guard self.hasRequest(since: cause) else { return self.handler.value.close() }
            self.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            self.handler.eventLoop.scheduleTask(in: ConnectionLimiter.minimumAge) { self.handler.value.close() }
        }
    }

    /// Returns whether a request has arrived since the connection was chosen, so that the cause no longer applies.
    private func hasRequest(since cause: Cause) -> Bool {
        switch cause {
        case .idle: self.activity.idleSince == nil
        case .unfinished: !self.activity.isUnfinished
        case .stalled, .unknown, .crowded: false
        }
    }
}

/// The first handler of a limited connection, which can close it below TLS. It forwards all events.
final class LimitedConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func close() { self.context?.close(promise: nil) }
}
