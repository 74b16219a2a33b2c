package import Logging
package import NIOCore
package import PushSupport
import Synchronization

/// The connections of a listener, each on the account of its client: its network, until a request shows a key, a person or an app.
///
/// An account that has its share gets another connection by losing one that is idle. Where the listener is full, the account that holds
/// the most loses one. Connections of which only the network is known have half of the listener, so that they leave room for others.
package final class HeldConnections: Sendable {
    /// The age under which no connection is closed while it has a request. An honest client shows who it is earlier.
    static let minimumAge: TimeAmount = .seconds(2)

    private struct Entry {
        let connection: HeldConnection
        /// Indicates whether a request has shown the account. It is the first one, whatever comes later.
        var isKnown = false

        /// Returns the time since which a stranger's connection has been open; `nil` for a new one, and for that of an account.
        func strangerSince(_ now: NIODeadline) -> NIODeadline? {
            !self.isKnown && now - self.connection.opened >= HeldConnections.minimumAge ? self.connection.opened : nil
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var accounts = ConnectionAccounts()

        /// Returns the entry of a connection, or of that of a stream of HTTP/2.
        func entry(of channel: any Channel) -> Entry? {
            self.entries[ObjectIdentifier(channel)] ?? channel.parent.flatMap { self.entries[ObjectIdentifier($0)] }
        }

        func victim(_ scope: ConnectionAccounts.Scope, since: (Entry) -> NIODeadline?) -> ObjectIdentifier? {
            self.accounts.victim(scope) { id in self.entries[id].flatMap(since) }
        }

        mutating func remove(_ id: ObjectIdentifier) {
            self.accounts.remove(id)
            self.entries.removeValue(forKey: id)?.connection.permit.end()
        }
    }

    private typealias Victim = (connection: HeldConnection, cause: HeldConnection.Cause)

    private enum Assignment {
        case known, assigned(HeldConnection, Victim?), refused(BudgetRefusal, Victim?)
    }

    private let budget: Budget
    private let maximumStrangers: Int
    private let logger: Logger
    private let clock: @Sendable () -> NIODeadline
    private let state = Mutex(State())

    /// - Parameters:
    ///   - budget: The budget of `Resource.connections`.
    ///   - maximumStrangers: The maximum number of connections of which only the network is known, half of the whole at most.
    package init(
        _ budget: Budget,
        maximumStrangers: Int = .max,
        logger: Logger,
        clock: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        var most = maximumStrangers
        if case .held(let whole) = budget.limits.bounds.whole { most = min(most, whole / 2) }
        (self.budget, self.maximumStrangers) = (budget, max(1, most))
        (self.logger, self.clock) = (logger.ofStrangers(), clock)
    }

    /// Counts a connection that was just accepted, on the account of its network, until it is closed. Call it on the event loop of
    /// the connection, before it has other handlers.
    /// - Throws: `ChannelError.alreadyClosed` for a connection without room, which is being closed.
    func admit(_ channel: any Channel) throws {
        let account = BudgetCaller(from: channel) ?? BudgetCaller(.network([]))
        let (id, now, handler) = (ObjectIdentifier(channel), self.clock(), HeldConnectionHandler())
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let (isAdmitted, victims) = self.state.withLock { state -> (Bool, [Victim]) in
            var victims: [Victim] = []
            if state.accounts.strangers >= self.maximumStrangers {
                guard let victim = self.remove(.strangers, &state, now) else { return (false, []) }
                victims.append(victim)
            }
            guard let permit = self.permit(for: account, &state, now, &victims) else { return (false, victims) }
            state.entries[id] = Entry(connection: HeldConnection(channel, permit, bound, now: now))
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
    /// - Throws: `BudgetRefusal` if the account has its share, and no idle connection to lose.
    package func assign(_ channel: any Channel, to account: BudgetCaller) throws(BudgetRefusal) {
        let assignment = self.state.withLock { state -> Assignment in
            guard let entry = state.entry(of: channel), !entry.isKnown else { return .known }
            return self.assign(entry.connection, to: account, &state)
        }
        switch assignment {
        case .known: return
        case .assigned(let connection, let victim):
            if let victim { self.close(victim) }
            UnauthenticatedConnections.markAuthenticated(connection.channel)
        case .refused(let refusal, let victim):
            if let victim { self.close(victim) }
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
            guard let victim = self.remove(Self.scope(of: error.level, account), &state, now) else { return nil }
            victims.append(victim)
            return try? self.budget.take(for: account)
        }
    }

    private func assign(
        _ connection: HeldConnection,
        to account: BudgetCaller,
        _ state: inout State
    ) -> Assignment {
        var victim: Victim?
        do throws(BudgetRefusal) {
            do throws(BudgetRefusal) {
                try connection.permit.move(to: account)
            } catch {
                victim = self.remove(Self.scope(of: error.level, account), &state, self.clock())
                guard victim != nil else { throw error }
                try connection.permit.move(to: account)
            }
        } catch {
            return .refused(error, victim)
        }
        let id = ObjectIdentifier(connection.channel)
        state.entries[id]?.isKnown = true
        state.accounts.set(account, of: id)
        return .assigned(connection, victim)
    }

    /// Returns the connections of which one makes room for another one of an account, where a level has none.
    private static func scope(of level: BudgetLevel, _ account: BudgetCaller) -> ConnectionAccounts.Scope {
        switch level {
        case .caller: .account(account)
        case .app: account.app.map { .app($0) } ?? .account(account)
        case .whole: .all
        }
    }

    /// Removes the connection that makes room: an idle one, else a stalled one, else that of a stranger that has been open for long.
    private func remove(_ scope: ConnectionAccounts.Scope, _ state: inout State, _ now: NIODeadline) -> Victim? {
        let (id, cause): (ObjectIdentifier?, HeldConnection.Cause)
        if let idle = state.victim(scope, since: { $0.connection.activity.idleSince }) {
            (id, cause) = (idle, .idle)
        } else if let stalled = state.victim(scope, since: { $0.connection.stalledSince(now) }) {
            (id, cause) = (stalled, .stalled)
        } else {
            (id, cause) = (state.victim(scope == .all ? .strangers : scope, since: { $0.strangerSince(now) }), .unknown)
        }
        guard let id, let connection = state.entries[id]?.connection else { return nil }
        state.remove(id)
        return (connection, cause)
    }

    private func close(_ victim: Victim) {
        self.logger.info("connection closed for another one", metadata: ["reason": "\(victim.cause.rawValue)"])
        victim.connection.close(victim.cause)
    }
}
