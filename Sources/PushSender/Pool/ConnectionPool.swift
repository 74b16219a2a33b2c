import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PushSupport
import Synchronization

/// The connections for one environment and one credential, and the pushes that wait for them.
///
/// Decisions are ``PoolStateMachine``'s; they are taken under the lock and carried out after it.
final class ConnectionPool: ConnectionOwner {
    private struct State {
        var machine: PoolStateMachine
        var queue = WorkQueue()
        var identity: SenderIdentity
        /// All connections.
        var handles: [Int: ConnectionHandle] = [:]
        /// Connections made with an earlier identity: they drain.
        var outdated: Set<Int> = []
        /// What each connection signs its requests with: the credential that it was opened for.
        var tokens: [Int: any ProviderTokenSource] = [:]
        var lastFailure: Outcome.Failure?
        var isExpirySet = false
        var isClosing = false
        var closed: [CheckedContinuation<Void, Never>] = []
        var generator = SystemRandomNumberGenerator()
    }

    private let endpoint: PushServiceEndpoint
    private let configuration: SenderConfiguration
    private let group: any EventLoopGroup
    private let time: any TimeSource
    private let logger: Logger
    let metrics: SenderMetrics
    private let state: Mutex<State>

    init(
        endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration,
        group: any EventLoopGroup,
        time: any TimeSource,
        logger: Logger
    ) throws {
        let identity = try SenderIdentity(credential, endpoint: endpoint, now: time.now)
        self.metrics = SenderMetrics(service: endpoint.host)
        self.metrics.credentialChanged(credential)
        self.endpoint = endpoint
        self.configuration = configuration
        self.group = group
        self.time = time
        self.logger = logger
        let backoff = Backoff(base: configuration.reconnectBase, maximum: configuration.reconnectMaximum)
        let machine = PoolStateMachine(maximum: max(1, configuration.maximumConnections), backoff: backoff)
        self.state = Mutex(State(machine: machine, identity: identity))
    }

    // MARK: For the sender

    /// Lines the batch up; its outcomes come by themselves.
    func send(_ batch: SendBatch) {
        let now = NIODeadline.now()
        let count = batch.pushes.count
        let (actions, refusal) = self.state.withLock { state -> ([PoolStateMachine.Action], Outcome.Failure?) in
            if state.isClosing { return ([], .init("the sender is closed")) }
            guard state.queue.isEmpty || state.queue.count + count <= self.configuration.maximumWaiting else {
                return ([], .init("\(state.queue.count) pushes are waiting already"))
            }
            state.queue.append(batch, deadline: now + .init(self.configuration.waitTimeout))
            return (state.machine.workArrived(count, waiting: state.queue.count, now: now), nil)
        }
        if let refusal {
            batch.finish(batch.pushes.indices.map { SendResult(index: $0, outcome: .notSent(refusal)) })
        }
        self.perform(actions)
        self.scheduleExpiry()
    }

    /// Takes back what of the batch has not reached a connection.
    func cancel(_ batch: SendBatch) {
        let tickets = self.state.withLock { $0.queue.remove { waiting, _ in waiting === batch } }
        Self.fail(tickets, .init("cancelled before it was sent"))
    }

    /// Uses another credential from now on: connections with the old one drain.
    func use(_ credential: PushCredential) throws {
        let identity = try SenderIdentity(credential, endpoint: self.endpoint, now: self.time.now)
        self.metrics.credentialChanged(credential)
        let now = NIODeadline.now()
        let (handles, actions) = self.state.withLock { state in
            state.identity = identity
            let ids = state.machine.ids
            state.outdated.formUnion(ids)
            let actions = state.machine.startAfresh(waiting: state.queue.count, now: now)
            return (Array(state.handles.values), actions)
        }
        for handle in handles { handle.drain() }
        self.perform(actions)
    }

    /// Ends with the replies in flight, at the latest after the time limit for draining.
    func close() async {
        let (handles, waiting) = self.state.withLock { state in
            state.isClosing = true
            state.machine.close()
            return (Array(state.handles.values), state.queue.remove { _, _ in true })
        }
        Self.fail(waiting, .init("the sender was closed before it was sent"))
        for handle in handles { handle.drain() }
        await withCheckedContinuation { continuation in
            let isEmpty = self.state.withLock { state in
                if !state.machine.isEmpty { state.closed.append(continuation) }
                return state.machine.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }

    var figures: SenderStatistics {
        self.state.withLock {
            SenderStatistics(
                connections: $0.machine.readyCount,
                waiting: $0.queue.count,
                lastFailure: $0.lastFailure?.description
            )
        }
    }

    // MARK: For the connections

    func connectionIsReady(_ id: Int) {
        self.state.withLock { $0.machine.ready(id) }
    }

    func takeWork(_ id: Int, limit: Int, into tickets: inout [PushTicket]) {
        let now = NIODeadline.now()
        let actions = self.state.withLock { state -> [PoolStateMachine.Action] in
            guard state.machine.isReady(id) else { return [] }
            // Everyone who is ready gets a share, so that the first one does not take all.
            let share = max(Self.smallestShare, state.queue.count / max(1, state.machine.readyCount))
            let most = min(limit, share)
            while tickets.count < most, !state.queue.isEmpty {
                state.queue.take(most - tickets.count, into: &tickets)
            }
            let isHungry = tickets.count < limit
            return state.machine.asked(id, isHungry: isHungry, waiting: state.queue.count, now: now)
        }
        self.perform(actions)
    }

    func providerToken(_ id: Int) throws -> String? {
        guard let token = self.state.withLock({ $0.tokens[id] }) else { return nil }
        return try token.text(now: self.time.now)
    }

    func providerTokenExpired(_ id: Int, _ text: String) {
        self.state.withLock { $0.tokens[id] }?.expired(text, now: self.time.now)
    }

    func connectionIsProven(_ id: Int) {
        self.state.withLock { $0.machine.proven(id) }
    }

    func giveBack(_ tickets: [PushTicket], _ failure: Outcome.Failure) {
        let now = NIODeadline.now()
        let (actions, ended) = self.state.withLock { state -> ([PoolStateMachine.Action], [PushTicket]) in
            guard !state.isClosing else { return ([], tickets) }
            state.lastFailure = failure
            // Whose time is over must not go round again.
            let waiting = tickets.filter { $0.deadline > now }
            state.queue.putBack(waiting)
            let actions = state.machine.workArrived(waiting.count, waiting: state.queue.count, now: now)
            return (actions, tickets.filter { $0.deadline <= now })
        }
        Self.fail(ended, failure)
        self.perform(actions)
        self.scheduleExpiry()
    }

    func connectionDrains(_ id: Int, _ goAway: GoAway?) {
        let now = NIODeadline.now()
        let (actions, refused) = self.state.withLock { state in
            let isLasting = goAway?.isLasting == true && !state.outdated.contains(id)
            let refused = isLasting ? state.queue.remove { _, _ in true } : []
            let actions = state.machine.draining(
                id,
                waiting: state.queue.count,
                now: now,
                using: &state.generator
            )
            return (actions, refused)
        }
        if let goAway { Self.fail(refused, RequestFailure.goAway(goAway).failure) }
        self.perform(actions)
    }

    func connectionClosed(_ id: Int, _ failure: ConnectionFailure?) {
        let now = NIODeadline.now()
        let (actions, given, waiters) = self.state.withLock {
            state -> ([PoolStateMachine.Action], [PushTicket], [CheckedContinuation<Void, Never>]) in
            // A connection that was given up may still report how it failed.
            guard state.machine.ids.contains(id) else { return ([], [], []) }
            state.handles[id] = nil
            state.tokens[id] = nil
            let isOutdated = state.outdated.remove(id) != nil
            if let failure { state.lastFailure = .init(failure.description) }
            let given =
                failure?.isLasting == true && !isOutdated && state.machine.readyCount == 0
                ? state.queue.remove { _, _ in true } : []
            let actions = state.machine.closed(
                id,
                isOrderly: failure == nil || isOutdated,
                waiting: state.queue.count,
                now: now,
                using: &state.generator
            )
            guard state.isClosing, state.machine.isEmpty else { return (actions, given, []) }
            defer { state.closed = [] }
            return (actions, given, state.closed)
        }
        if let failure {
            self.logger.info("connection to the push service ended", metadata: ["error": "\(failure)"])
            Self.fail(given, .init(failure.description))
        }
        self.perform(actions)
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Acting

    private static let smallestShare = 32

    private func perform(_ actions: [PoolStateMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id): self.connect(id)
            case .wake(let id): self.state.withLock { $0.handles[id] }?.wake()
            case .connectLater(let time):
                self.group.any().scheduleTask(deadline: time) {
                    let now = NIODeadline.now()
                    let actions = self.state.withLock {
                        $0.machine.timerFired(waiting: $0.queue.count, now: now)
                    }
                    self.perform(actions)
                }
            }
        }
    }

    private func connect(_ id: Int) {
        let tls = self.state.withLock { state in
            state.tokens[id] = state.identity.token
            return state.identity.tls
        }
        let connector = Connector(endpoint: self.endpoint, proxy: self.configuration.proxy, tls: tls)
        let eventLoop = self.group.next()
        eventLoop.execute {
            let connection = PushConnection(
                id: id,
                authority: self.endpoint.authority,
                limits: self.configuration.limits,
                owner: self,
                logger: self.logger
            )
            self.register(id, ConnectionHandle(connection, eventLoop: eventLoop))
            connector.connect(connection, on: eventLoop).whenFailure { error in
                self.connectionClosed(id, ConnectionFailure(error))
            }
        }
    }

    /// Much can have happened since the connection was ordered.
    private func register(_ id: Int, _ handle: ConnectionHandle) {
        let isWanted = self.state.withLock { state in
            state.handles[id] = handle
            return !state.isClosing && !state.outdated.contains(id)
        }
        if !isWanted { handle.drain() }
    }

    /// Pushes that wait for too long count as not sent.
    private func scheduleExpiry() {
        let deadline = self.state.withLock { state -> NIODeadline? in
            guard !state.isExpirySet, let deadline = state.queue.firstDeadline else { return nil }
            state.isExpirySet = true
            return deadline
        }
        guard let deadline else { return }
        self.group.any().scheduleTask(deadline: deadline) {
            let now = NIODeadline.now()
            let (tickets, failure) = self.state.withLock { state in
                state.isExpirySet = false
                return (state.queue.remove { _, deadline in deadline <= now }, state.lastFailure)
            }
            Self.fail(tickets, failure ?? .init("no connection took it within the time limit"))
            self.scheduleExpiry()
        }
    }

    private static func fail(_ tickets: [PushTicket], _ failure: Outcome.Failure) {
        for ticket in tickets {
            ticket.batch.finish(CollectionOfOne(SendResult(index: ticket.index, outcome: .notSent(failure))))
        }
    }
}
