package import Foundation
package import Logging
package import Metrics
package import NIOCore
import NIOPosix
package import ProviderAPI
package import ProviderModel
package import PushProvider
package import PushStore
package import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// Runs the chat sessions that are active in the store.
///
/// An idle session has no task, only a connection on one of the event loops and its state machine. It has a task while
/// it connects. ``BudgetedResource/chatSignIns`` limits how many sessions connect at the same time, and
/// ``BudgetedResource/chatConnections`` how many connections they have.
package final class ChatSessionService: Service {
    package struct Limits: Sendable {
        /// The maximum time between two reads of the sessions from the store. Default 30 s.
        package var refresh: Duration = .seconds(30)
        /// The minimum time between two reads of the sessions. Default 500 ms.
        package var pause: Duration = .milliseconds(500)
        /// The time between two writes of the sessions' progress to the store. Default 5 s.
        package var journal: Duration = .seconds(5)
        /// The maximum time for resolving the name of a server, and for connecting to it. Default 10 s.
        package var connect: Duration = .seconds(10)
        package var supervisor = SessionSupervisor.Limits()
        /// The minimum time between two pushes of a conversation (``PushCoalescer``). Default 5 s.
        package var coalescing: Duration = .seconds(5)

        package init() {}
    }

    /// The time between two looks at whether the sessions run at this node.
    private static let dutyInterval: Duration = .seconds(1)

    private struct Opening: Sendable {
        var session: RunningSession
        var loop: SessionLoop
    }

    private let store: any AppStore & ChatSessionStore
    private let connector: ChatConnector
    private let pusher: ChatPushSubmitter
    private let journal = SessionJournal()
    private let metrics: ChatSessionMetrics
    private let limits: Limits
    private let time: any TimeSource
    private let logger: Logger
    private let group: any EventLoopGroup
    /// Returns whether the sessions run at this node, or `nil` if there is no other node.
    private let isOnDuty: (@Sendable () -> Bool)?
    private let wake = WakeSignal()
    /// A Boolean value that indicates whether the sessions in the store have changed since they were read.
    private let isChanged = Mutex(true)
    private let conditions = Mutex<[UUID: ChatSessionCondition]>([:])
    private let connections, signIns: Budget
    /// The queue of sessions that wait for their turn to connect.
    private let (turns, continuation) = AsyncStream.makeStream(of: Opening.self)

    /// Creates the service, which connects nothing until ``run()`` is called.
    /// - Parameters:
    ///   - addresses: The rules for the addresses of chat servers.
    ///   - authorities: Certificate authorities, in PEM, that are trusted besides those of the system.
    ///   - isOnDuty: Returns whether the sessions run at this node. With `nil`, the default, they always do.
    package init(
        store: any AppStore & ChatSessionStore,
        acceptor: NotificationAcceptor,
        budgets: BudgetRegistry,
        addresses: AddressPolicy,
        authorities: String? = nil,
        limits: Limits = Limits(),
        isOnDuty: (@Sendable () -> Bool)? = nil,
        resolver: any NameResolver,
        metrics: any MetricsFactory = NOOPMetricsHandler.instance,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        time: any TimeSource,
        logger: Logger
    ) {
        self.connector = ChatConnector(
            addresses: addresses,
            authorities: authorities,
            resolver: resolver,
            timeout: limits.connect
        )
        self.metrics = ChatSessionMetrics(factory: metrics)
        (self.connections, self.signIns) = (budgets[.chatConnections], budgets[.chatSignIns])
        self.pusher = ChatPushSubmitter(
            store: store,
            acceptor: acceptor,
            budgets: budgets,
            metrics: self.metrics,
            time: time,
            logger: logger
        )
        (self.store, self.limits, self.group, self.time, self.logger) = (store, limits, group, time, logger)
        self.isOnDuty = isOnDuty
    }

    private var runsHere: Bool { self.isOnDuty?() ?? true }

    package var addresses: AddressPolicy { self.connector.addresses }

    /// Requests that the service read the sessions from the store again.
    package func refresh() {
        self.isChanged.withLock { $0 = true }
        self.wake.signal()
    }

    /// Returns the condition of a session, or `nil` if the session does not run.
    package func condition(of id: UUID) -> ChatSessionCondition? { self.conditions.withLock { $0[id] } }

    // MARK: Running

    package func run() async throws {
        let loops = self.group.makeIterator().map { SessionLoop($0, self.connector, self, self.time) }
        await withTaskCancellationOrGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { tasks in
                tasks.addTask { await self.pusher.run() }
                await withTaskGroup(of: Void.self) { openings in
                    openings.addTask { await self.openSessions() }
                    await self.follow(loops)
                    self.continuation.finish()
                    openings.cancelAll()
                }
                // No more messages arrive, and ``run()`` of the submitter returns after the waiting pushes.
                self.pusher.end()
                await tasks.waitForAll()
            }
        } onCancelOrGracefulShutdown: {
            self.wake.end()
        }
        do {
            try await self.journal.flush(to: self.store, isLast: true)
        } catch {
            self.logger.error("the progress of chat sessions is not stored", metadata: ["error": "\(error)"])
        }
    }

    /// Starts and stops sessions on the loops as their records in the store change, until shutdown.
    private func follow(_ loops: [SessionLoop]) async {
        var running: [ChatSessionKey: SessionLoop] = [:]
        var nextWrite = self.time.steady
        var readings = SessionRefreshSchedule(interval: self.limits.refresh, pause: self.limits.pause, now: nextWrite)
        var wait: Duration
        var wasOnDuty = true
        repeat {
            let now = self.time.steady
            let isOnDuty = self.runsHere
            if isOnDuty != wasOnDuty { self.isChanged.withLock { $0 = true } }
            wasOnDuty = isOnDuty
            if now >= nextWrite {
                nextWrite = now.advanced(by: self.limits.journal)
                await self.writeProgress()
            }
            if readings.isDue(now: now, isChanged: self.hasChange) {
                // Changes after this point are read in the next round.
                self.isChanged.withLock { $0 = false }
                await self.update(&running, loops)
                readings.end(now: self.time.steady)
            }
            let longest = self.isOnDuty == nil ? self.limits.journal : min(self.limits.journal, Self.dutyInterval)
            wait = readings.wait(now: self.time.steady, isChanged: self.hasChange, atMost: longest)
        } while await self.wake.wait(atMost: wait)
        // The sessions sign out, so that their servers keep messages for later.
        await self.stop(running)
    }

    /// Stops sessions.
    /// - Parameter removed: The ids of sessions whose records were removed. Their waiting messages are not pushed.
    private func stop(_ sessions: [ChatSessionKey: SessionLoop], removed: Set<UUID> = []) async {
        await withTaskGroup(of: Void.self) { tasks in
            for (key, loop) in sessions {
                tasks.addTask { await loop.stop(key.id, isRemoved: removed.contains(key.id)) }
            }
        }
    }

    /// Returns the ids of those sessions whose records were removed, for example with their user. Their messages must
    /// no longer be pushed.
    private func removed(of sessions: [ChatSessionKey: SessionLoop]) async -> Set<UUID> {
        var removed: Set<UUID> = []
        for id in sessions.keys.map(\.id) {
            do {
                if try await self.store.chatSession(id) == nil { removed.insert(id) }
            } catch {
                // The provider does not accept pushes of removed sessions.
            }
        }
        return removed
    }

    private var hasChange: Bool { self.isChanged.withLock { $0 } }

    private func writeProgress() async {
        do {
            try await self.journal.flush(to: self.store)
        } catch {
            self.logger.error(
                "the progress of chat sessions cannot be stored, trying again",
                metadata: ["error": "\(error)"]
            )
        }
    }

    private func update(_ running: inout [ChatSessionKey: SessionLoop], _ loops: [SessionLoop]) async {
        guard !loops.isEmpty,
            let active = self.runsHere ? try? await self.store.activeChatSessions() : []
        else { return }
        let wanted = Set(active)
        let ended = running.filter { !wanted.contains($0.key) }
        for key in ended.keys { running[key] = nil }
        await self.stop(ended, removed: await self.removed(of: ended))
        for key in active where running[key] == nil {
            guard let record = try? await self.store.chatSession(key.id), record.revision == key.revision else {
                continue
            }
            let loop = loops[Int(UInt(bitPattern: key.id.hashValue) % UInt(loops.count))]
            guard let app = try? await self.store.app(id: record.app) else { continue }
            running[key] = loop
            self.start(record, key, of: app.bundleID, on: loop)
        }
    }

    private func start(_ record: ChatSessionRecord, _ key: ChatSessionKey, of bundleID: Topic, on loop: SessionLoop) {
        let settings = (try? ChatPushSettings(record.settings)) ?? ChatPushSettings()
        let session = RunningSession(
            key: key,
            app: record.app,
            bundleID: bundleID,
            user: record.user,
            chatProtocol: record.chatProtocol,
            host: record.host,
            showsText: settings.showsText
        )
        let supervisor = SessionSupervisor(
            settings: settings,
            memory: ChatMemory(seenThrough: record.seenThrough, usesSCRAM: record.usesSCRAM),
            // A message has arrived since the password was set, so the server has accepted the password.
            wasSignedIn: record.seenThrough > record.changedAt,
            seed: UInt64.random(in: .min ... .max),
            coalescer: PushCoalescer(interval: self.limits.coalescing),
            limits: self.limits.supervisor
        )
        loop.start(session, supervisor)
    }

    // MARK: Connecting

    private func openSessions() async {
        await withDiscardingTaskGroup { group in
            for await opening in self.turns { group.addTask { await self.openInTurn(opening) } }
        }
    }

    /// Waits for the turn of a session, and connects it. Turns alternate between apps, so that servers that do not
    /// respond delay few sessions of other apps.
    private func openInTurn(_ opening: Opening) async {
        let (session, loop) = (opening.session, opening.loop)
        do {
            // The permit for the connection is taken first, because waiting for it may take an hour and must not occupy
            // a sign-in.
            let connection = try await self.connections.wait(for: BudgetCaller(app: session.bundleID))
            let place = try await self.signIns.wait(for: BudgetCaller(app: session.bundleID, .name(session.host)))
            defer { place.end() }
            await self.open(session, loop, connection)
        } catch let refusal as BudgetRefusal {
            guard let attempt = await loop.begin(session) else { return }
            loop.failed(session, ChatFailure(refusal.error.error.message), connection: attempt.connection)
        } catch {
            // The service is ending.
        }
    }

    /// Connects a session. The password is in memory until the session is signed in.
    /// - Parameter place: The permit for the connection. It is released when the connection is closed, or immediately
    ///   if none is opened.
    private func open(_ session: RunningSession, _ loop: SessionLoop, _ place: BudgetPermit) async {
        guard let attempt = await loop.begin(session) else { return place.end() }
        do throws(ChatFailure) {
            let record: ChatSessionRecord?
            do {
                record = try await self.store.chatSession(session.key.id)
            } catch {
                throw ChatFailure("its record cannot be read: \(ErrorDescription.of(error))")
            }
            guard let record, record.revision == session.key.revision else {
                throw ChatFailure("the session has changed")
            }
            let machine: any ChatSession
            do {
                machine = try session.chatProtocol.session.init(ChatLogin(record), memory: attempt.memory)
            } catch {
                throw ChatFailure("its settings are not valid: \(error.message)", isFinal: true)
            }
            let handshake = OneShotValue<Void>()
            try await self.connector.connect(
                to: record.host,
                port: record.port,
                app: record.app,
                attempt: attempt.number,
                on: loop.eventLoop
            ) { channel in
                channel.closeFuture.whenComplete { _ in place.end() }
                return loop.initialize(channel, session, machine, connection: attempt.connection, handshake: handshake)
            }
            // The handshake is most of the work. If it does not complete, the session's deadline closes the connection.
            _ = try? await handshake.valueUnlessCancelled()
        } catch {
            place.end()
            loop.failed(session, error, connection: attempt.connection)
        }
    }
}

extension ChatSessionService: SessionLoopDelegate {
    func open(_ session: RunningSession, _ loop: SessionLoop) {
        self.continuation.yield(Opening(session: session, loop: loop))
    }

    func push(_ push: ChatPush, _ session: RunningSession, placed: @escaping @Sendable () -> Void) -> Bool {
        self.pusher.push(push, session, placed: placed)
    }

    func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey) { self.journal.note(progress, key) }

    func setCondition(_ condition: ChatSessionCondition?, _ session: RunningSession) {
        let before = self.conditions.withLock { conditions in
            defer { conditions[session.key.id] = condition }
            return conditions[session.key.id]
        }
        if let condition, before?.status == .signingIn, condition.status != .signingIn {
            self.metrics.countSignIn(session.chatProtocol, condition.status)
        }
    }
}

extension ChatSessionService {
    package convenience init(_ parts: ProviderComponents, authorities: String?) {
        var limits = Limits()
        limits.connect = parts.configuration.limits.peer
        var isOnDuty: (@Sendable () -> Bool)?
        if let nodes = parts.nodes { isOnDuty = { nodes.holds(.chatSessions) } }
        self.init(
            store: parts.store,
            acceptor: parts.acceptor,
            budgets: parts.budgets,
            addresses: parts.configuration.webhookAddresses,
            authorities: authorities,
            limits: limits,
            isOnDuty: isOnDuty,
            resolver: parts.resolver,
            metrics: parts.metrics,
            time: parts.time,
            logger: parts.logger
        )
    }
}

extension ChatProtocol {
    /// The type of the protocol's sessions, which are state machines.
    package var session: any ChatSession.Type {
        switch self {
        case .irc: IRCSession.self
        case .xmpp: XMPPSession.self
        }
    }
}
