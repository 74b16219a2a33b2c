import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// The connections for one environment and one credential, and the pushes that wait for them. ``PoolStateMachine``
/// determines the actions while the lock is held. They are performed after the lock is released.
final class ConnectionPool: PushConnectionDelegate {
    /// A connection of the pool, from the attempt to open it until it is closed.
    private struct Connection {
        /// The handle through which the connection is called, or `nil` before it has an event loop.
        var handle: ConnectionHandle?
        /// The source of provider tokens of the credential with which the connection was opened.
        var token: (any ProviderTokenSource)?
        /// A Boolean value that indicates whether the connection only waits for its outstanding responses, because a
        /// newer credential or port is in use.
        var isOutdated = false
        var isOpen = false
        var port = 0
    }

    private struct State {
        var stateMachine: PoolStateMachine
        var queue = WorkQueue()
        var identity: SenderIdentity
        var connections: [Int: Connection] = [:]
        var lastFailure: Outcome.Failure?
        /// The reason why the latest connection could not be opened, or `nil` if it could.
        var fault: ConnectionFault?
        var warning = RepeatedWarning()
        var isExpirySet = false
        var closed: [CheckedContinuation<Void, Never>] = []
        var generator = SystemRandomNumberGenerator()

        var handles: [ConnectionHandle] { self.connections.values.compactMap(\.handle) }
    }

    private let endpoint: PushServiceEndpoint
    private let configuration: SenderConfiguration
    private let group: any EventLoopGroup
    private let time: any TimeSource
    private let logger: Logger
    /// The function that receives the failure of each connection that could not be opened, and `nil` when a connection
    /// is opened. It is `nil` if nothing is reported.
    private let observer: ConnectionObserver?
    /// The selection of the port, or `nil` for a push service with a single port.
    private let ports: PortSelector?
    private let portObserver = Mutex<Int?>(nil)
    let metrics: SenderMetrics
    private let state: Mutex<State>

    init(
        endpoint: PushServiceEndpoint,
        credential: PushCredential,
        configuration: SenderConfiguration,
        environment: PushEnvironment? = nil,
        group: any EventLoopGroup,
        time: any TimeSource,
        ports: PortSelector? = nil,
        observer: ConnectionObserver? = nil,
        logger: Logger
    ) throws {
        let proxy = configuration.proxy
        self.ports = try ports ?? PortSelector(endpoint, proxy: proxy, group: group, time: time, logger: logger)
        let identity = try SenderIdentity(credential, endpoint: endpoint, now: time.now)
        self.metrics = SenderMetrics(service: endpoint.host, environment: environment ?? endpoint.environment)
        self.metrics.credentialChanged(credential)
        (self.endpoint, self.configuration, self.group) = (endpoint, configuration, group)
        (self.time, self.observer, self.logger) = (time, observer, logger)
        let backoff = Backoff(base: configuration.reconnectBase, maximum: configuration.reconnectMaximum)
        let stateMachine = PoolStateMachine(maximum: max(1, configuration.maximumConnections), backoff: backoff)
        self.state = Mutex(State(stateMachine: stateMachine, identity: identity))
        let portObserver = self.ports?.addObserver { [weak self] in self?.firstPortWorksAgain() }
        self.portObserver.withLock { $0 = portObserver }
    }

    deinit {
        if let number = self.portObserver.withLock({ $0 }) { self.ports?.removeObserver(number) }
    }

    // MARK: Called by the sender

    /// Queues a batch, which receives its outcomes as they become known. If the queue is full or the pool is closed,
    /// all outcomes are ``Outcome/notSent(_:)``.
    func send(_ batch: SendBatch) {
        let now = NIODeadline.now()
        let count = batch.pushes.count
        let (actions, failure) = self.state.withLock { state -> ([PoolStateMachine.Action], Outcome.Failure?) in
            if state.stateMachine.isClosing { return ([], .init("the sender is closed")) }
            guard state.queue.isEmpty || state.queue.count + count <= self.configuration.maximumWaiting else {
                return ([], .init("\(state.queue.count) pushes are waiting already"))
            }
            state.queue.append(batch, deadline: now + .init(self.configuration.waitTimeout))
            return (state.stateMachine.pushesQueued(count, waiting: state.queue.count, now: now), nil)
        }
        if let failure {
            batch.finish(batch.pushes.indices.map { SendResult(index: $0, outcome: .notSent(failure)) })
        }
        self.perform(actions)
        self.scheduleExpiry()
    }

    /// Ends, as ``Outcome/notSent(_:)``, the pushes of a cancelled batch that no connection has accepted.
    func cancel(_ batch: SendBatch) {
        let tickets = self.state.withLock { $0.queue.remove { queued, _ in queued === batch } }
        Self.fail(tickets, .init("cancelled before it was sent"))
    }

    /// Takes back pushes of a batch. Those that no connection has accepted end as ``Outcome/notSent(_:)``.
    func takeBack(_ indices: Set<Int>, of batch: SendBatch) {
        Self.endTakenBack(self.state.withLock { $0.queue.remove(indices, of: batch) })
    }

    /// Uses another credential for new connections. Connections with the old one close after outstanding responses.
    /// - Throws: The errors of ``SenderIdentity``, after which the old credential stays in use.
    func use(_ credential: PushCredential) throws {
        let identity = try SenderIdentity(credential, endpoint: self.endpoint, now: self.time.now)
        self.metrics.credentialChanged(credential)
        let now = NIODeadline.now()
        let (handles, actions) = self.state.withLock { state in
            state.identity = identity
            for id in state.stateMachine.ids { state.connections[id, default: Connection()].isOutdated = true }
            let actions = state.stateMachine.credentialChanged(waiting: state.queue.count, now: now)
            return (state.handles, actions)
        }
        for handle in handles { handle.drain() }
        self.perform(actions)
    }

    /// Closes all connections after their outstanding responses have arrived, at the latest after the drain timeout.
    func close() async {
        let (handles, waiting) = self.state.withLock { state in
            state.stateMachine.close()
            return (state.handles, state.queue.remove { _, _ in true })
        }
        Self.fail(waiting, .init("the sender was closed before it was sent"))
        for handle in handles { handle.drain() }
        await withCheckedContinuation { continuation in
            let isEmpty = self.state.withLock { state in
                if !state.stateMachine.isEmpty { state.closed.append(continuation) }
                return state.stateMachine.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }

    var statistics: SenderStatistics {
        self.state.withLock {
            SenderStatistics(
                connections: $0.stateMachine.readyCount,
                waiting: $0.queue.count,
                lastFailure: $0.lastFailure?.description
            )
        }
    }

    // MARK: Called by the connections

    var wallTime: Timestamp { self.time.now }

    func connectionIsReady(_ id: Int) {
        let port = self.state.withLock { state in
            state.stateMachine.connectionReady(id)
            state.connections[id]?.isOpen = true
            state.fault = nil
            state.warning = RepeatedWarning()
            return state.connections[id]?.isOutdated == true ? nil : state.connections[id]?.port
        }
        if let port { self.ports?.opened(port) }
        self.observer?(nil)
    }

    /// Closes the connections to the fallback port after outstanding responses, so that new ones use the first port.
    private func firstPortWorksAgain() {
        let now = NIODeadline.now()
        let (handles, actions) = self.state.withLock { state in
            let ids = state.connections.filter { $0.value.port != self.endpoint.port }.map(\.key)
            for id in ids { state.connections[id]?.isOutdated = true }
            let actions = state.stateMachine.connectionsOutdated(Set(ids), waiting: state.queue.count, now: now)
            return (ids.compactMap { state.connections[$0]?.handle }, actions)
        }
        for handle in handles { handle.drain() }
        self.perform(actions)
    }

    func takeWork(_ id: Int, limit: Int, into tickets: inout [PushTicket]) {
        let now = NIODeadline.now()
        let actions = self.state.withLock { state -> [PoolStateMachine.Action] in
            guard state.stateMachine.isReady(id) else { return [] }
            // Each ready connection gets a share, so that the first one does not take all.
            let share = max(Self.smallestShare, state.queue.count / max(1, state.stateMachine.readyCount))
            let most = min(limit, share)
            while tickets.count < most, !state.queue.isEmpty {
                state.queue.take(most - tickets.count, into: &tickets)
            }
            let isIdle = tickets.count < limit
            return state.stateMachine.workTaken(id, isIdle: isIdle, waiting: state.queue.count, now: now)
        }
        self.perform(actions)
    }

    func providerToken(_ id: Int) throws -> String? {
        guard let token = self.state.withLock({ $0.connections[id]?.token }) else { return nil }
        return try token.text(now: self.time.now)
    }

    func providerTokenExpired(_ id: Int, _ text: String) {
        self.state.withLock { $0.connections[id]?.token }?.expired(text, now: self.time.now)
    }

    func connectionIsConfirmed(_ id: Int) { self.state.withLock { $0.stateMachine.connectionConfirmed(id) } }

    func returnWork(_ returned: [PushTicket], _ failure: Outcome.Failure) {
        let now = NIODeadline.now()
        let (actions, ended, recalled) = self.state.withLock {
            state -> ([PoolStateMachine.Action], [PushTicket], [PushTicket]) in
            guard !state.stateMachine.isClosing else { return ([], returned, []) }
            state.lastFailure = failure
            // A push whose deadline has passed must not be sent again.
            let before = state.queue.count
            let recalled = state.queue.prepend(returned.filter { $0.deadline > now })
            let waiting = state.queue.count
            let actions = state.stateMachine.pushesQueued(waiting - before, waiting: waiting, now: now)
            return (actions, returned.filter { $0.deadline <= now }, recalled)
        }
        Self.fail(ended, failure)
        Self.endTakenBack(recalled)
        self.perform(actions)
        self.scheduleExpiry()
    }

    func connectionIsDraining(_ id: Int, _ goAway: GoAway?) {
        let now = NIODeadline.now()
        let (actions, failed) = self.state.withLock { state in
            let isLasting = goAway?.isLasting == true && state.connections[id]?.isOutdated == false
            let failed = isLasting ? state.queue.remove { _, _ in true } : []
            let actions = state.stateMachine.connectionDraining(
                id,
                waiting: state.queue.count,
                now: now,
                using: &state.generator
            )
            return (actions, failed)
        }
        if let goAway { Self.fail(failed, HTTP2RequestFailure.goAway(goAway).failure) }
        self.perform(actions)
    }

    func connectionClosed(_ id: Int, _ failure: ConnectionError?) {
        let now = NIODeadline.now()
        var failure = failure
        var opening: Outcome.Failure?
        var logLevel = Logger.Level.info
        let (actions, failed, waiters) = self.state.withLock {
            state -> ([PoolStateMachine.Action], [PushTicket], [CheckedContinuation<Void, Never>]) in
            // An abandoned connection may report its failure a second time.
            guard state.stateMachine.ids.contains(id) else { return ([], [], []) }
            let connection = state.connections.removeValue(forKey: id)
            let isOutdated = connection?.isOutdated == true
            if let cause = failure, let connection, !isOutdated, !connection.isOpen {
                failure = self.ports?.failed(cause, port: connection.port) ?? cause
            }
            if let failure {
                state.lastFailure = .init(failure.description)
                if !isOutdated, connection?.isOpen != true, !failure.hasAlternative {
                    state.fault = ConnectionFault(failure.cause, at: self.endpoint, through: self.configuration.proxy)
                    opening = Outcome.Failure(failure.description, fault: state.fault)
                    logLevel = state.warning.level(of: failure.description, now: now)
                }
            }
            let failed =
                (failure?.isLasting == true || failure?.hasAlternative == false && self.configuration.failsFast)
                    && !isOutdated
                    && state.stateMachine.readyCount == 0
                ? state.queue.remove { _, _ in true } : []
            let actions = state.stateMachine.connectionClosed(
                id,
                isOrderly: failure == nil || isOutdated,
                waiting: state.queue.count,
                now: now,
                using: &state.generator
            )
            guard state.stateMachine.isClosing, state.stateMachine.isEmpty else { return (actions, failed, []) }
            defer { state.closed = [] }
            return (actions, failed, state.closed)
        }
        if let opening {
            self.logger.log(
                level: logLevel,
                "no connection to the push service",
                metadata: opening.metadata(self.endpoint)
            )
            self.observer?(opening)
        } else if let failure {
            let metadata = Outcome.Failure(failure.description).metadata(self.endpoint)
            self.logger.info("connection to the push service ended", metadata: metadata)
        }
        if let failure { Self.fail(failed, opening ?? .init(failure.description)) }
        self.perform(actions)
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Actions

    /// The minimum number of waiting pushes that a connection takes as its share.
    private static let smallestShare = 32

    private func perform(_ actions: [PoolStateMachine.Action]) {
        for action in actions {
            switch action {
            case .connect(let id): self.connect(id)
            case .wake(let id): self.state.withLock { $0.connections[id]?.handle }?.wake()
            case .connectLater(let time):
                self.group.any().scheduleTask(deadline: time) {
                    let now = NIODeadline.now()
                    let actions = self.state.withLock {
                        $0.stateMachine.timerFired(waiting: $0.queue.count, now: now)
                    }
                    self.perform(actions)
                }
            }
        }
    }

    private func connect(_ id: Int) {
        let endpoint = self.ports?.current ?? self.endpoint
        let tls = self.state.withLock { state in
            state.connections[id, default: Connection()].token = state.identity.token
            state.connections[id]?.port = endpoint.port
            return state.identity.tls
        }
        let connector = Connector(endpoint: endpoint, proxy: self.configuration.proxy, tls: tls)
        let eventLoop = self.group.next()
        eventLoop.execute {
            let connection = PushConnection(
                id: id,
                authority: endpoint.authority,
                limits: self.configuration.limits,
                delegate: self,
                logger: self.logger
            )
            self.register(id, ConnectionHandle(connection, eventLoop: eventLoop))
            connector.connect(connection, on: eventLoop).whenFailure { error in
                self.connectionClosed(id, ConnectionError(error))
            }
        }
    }

    private static func endTakenBack(_ tickets: [PushTicket]) {
        for ticket in tickets { ticket.batch.endTakenBack(ticket.index) }
    }

    private static func fail(_ tickets: [PushTicket], _ failure: Outcome.Failure) {
        for ticket in tickets {
            ticket.batch.finish(CollectionOfOne(SendResult(index: ticket.index, outcome: .notSent(failure))))
        }
    }

    private func register(_ id: Int, _ handle: ConnectionHandle) {
        let isWanted = self.state.withLock { state in
            state.connections[id, default: Connection()].handle = handle
            return !state.stateMachine.isClosing && state.connections[id]?.isOutdated == false
        }
        if !isWanted { handle.drain() }
    }

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
                var failure = state.lastFailure ?? .init("no connection took it within the time limit")
                failure.fault = state.fault
                return (state.queue.remove { _, deadline in deadline <= now }, failure)
            }
            Self.fail(tickets, failure)
            self.scheduleExpiry()
        }
    }
}

/// A function that receives the failure of each connection that could not be opened on any port, and `nil` when a
/// connection is opened.
package typealias ConnectionObserver = @Sendable (Outcome.Failure?) -> Void

/// The log level of a message that each attempt to connect repeats. It is warning once a minute, and otherwise info.
private struct RepeatedWarning {
    private static let interval: TimeAmount = .seconds(60)

    private var text: String?
    private var warnedAt: NIODeadline?

    mutating func level(of text: String, now: NIODeadline) -> Logger.Level {
        if self.text == text, let warnedAt, now < warnedAt + Self.interval { return .info }
        (self.text, self.warnedAt) = (text, now)
        return .warning
    }
}

extension Outcome.Failure {
    fileprivate func metadata(_ endpoint: PushServiceEndpoint) -> Logger.Metadata {
        let (host, port) = (self.fault?.host ?? endpoint.host, self.fault?.port ?? endpoint.port)
        return ["host": "\(host)", "port": "\(port)", "error": "\(self.description)"]
    }
}
