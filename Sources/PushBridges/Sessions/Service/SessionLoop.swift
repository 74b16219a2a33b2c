package import Foundation
import NIOCore
import ProviderModel
import PushSupport
package import PushTypes

/// Carries out those actions of sessions that do not run on their event loop. Every method returns at once.
protocol SessionLoopDelegate: AnyObject, Sendable {
    /// Queues a session for connecting. ``SessionLoop/begin(_:)`` is called in its turn.
    func open(_ session: RunningSession, _ loop: SessionLoop)
    /// - Parameter placed: A function that is called once if the push waits, when it has a place.
    /// - Returns: `false` if the push waits because its app has too many.
    func push(_ push: ChatPush, _ session: RunningSession, placed: @escaping @Sendable () -> Void) -> Bool
    func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey)
    /// - Parameter condition: The condition, or `nil` if the session no longer runs.
    func setCondition(_ condition: ChatSessionCondition?, _ session: RunningSession)
}

/// The sessions of one event loop, with one timer for all of them.
final class SessionLoop: Sendable {
    /// The state. It is used only on the event loop.
    private struct State {
        var runners: [UUID: SessionRunner] = [:]
        var wheel = TimerWheel()
        var timer: Scheduled<Void>?
        /// The time at which the timer fires; `nil` while it is not scheduled.
        var timerAt: Timestamp?
    }

    let eventLoop: any EventLoop
    let connector: ChatConnector
    let delegate: any SessionLoopDelegate
    let time: any TimeSource
    let derivations: KeyDerivationQueue
    private let state: NIOLoopBoundBox<State>

    init(
        _ eventLoop: any EventLoop,
        _ connector: ChatConnector,
        _ delegate: any SessionLoopDelegate,
        _ time: any TimeSource,
        derivations: KeyDerivationQueue = .shared
    ) {
        (self.eventLoop, self.connector, self.delegate, self.time) = (eventLoop, connector, delegate, time)
        self.derivations = derivations
        self.state = .makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Starts a session. It replaces an earlier version of the same session.
    func start(_ session: RunningSession, _ supervisor: SessionSupervisor) {
        self.eventLoop.execute {
            let before = self.state.value.runners[session.key.id]
            guard before?.session.key != session.key else { return }
            _ = before?.stop()
            let runner = SessionRunner(session, supervisor: supervisor, loop: self)
            self.state.value.runners[session.key.id] = runner
            runner.start()
        }
    }

    /// Ends a session and waits until its connection is closed.
    /// - Parameter isRemoved: See ``SessionSupervisor/stop(isRemoved:)``.
    func stop(_ id: UUID, isRemoved: Bool = false) async {
        let closed = self.eventLoop.flatSubmit {
            let closed = self.state.value.runners.removeValue(forKey: id)?.stop(isRemoved: isRemoved)
            return closed ?? self.eventLoop.makeSucceededVoidFuture()
        }
        try? await closed.get()
    }

    /// Begins to connect a session in its turn.
    /// - Returns: See ``SessionRunner/begin()``.
    func begin(_ session: RunningSession) async -> ConnectionAttempt? {
        let begun = self.eventLoop.submit { () -> ConnectionAttempt? in
            guard let runner = self.state.value.runners[session.key.id], runner.session.key == session.key else {
                return nil
            }
            return runner.begin()
        }
        return (try? await begun.get()) ?? nil
    }

    /// Adds the handlers of a session to its connection. It is called on the event loop.
    /// - Parameter handshake: See ``ChatConnectionHandler``.
    func initialize(
        _ channel: any Channel,
        _ session: RunningSession,
        _ machine: any ChatSession,
        connection: Int,
        handshake: OneShotValue<Void>
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            guard let runner = self.state.value.runners[session.key.id], runner.session.key == session.key else {
                throw ChatFailure("the session has ended")
            }
            let pipeline = channel.pipeline.syncOperations
            if machine.isSecureFromStart {
                try pipeline.addHandler(try self.connector.handler(for: machine.serverName))
            }
            try pipeline.addHandlers(
                ChatConnectionHandler.handlers(of: runner, number: connection, session: machine, handshake: handshake)
            )
        }
    }

    /// Reports that a connection could not be opened.
    func failed(_ session: RunningSession, _ failure: ChatFailure, connection: Int) {
        self.eventLoop.execute { self.run(session.key) { $0.closed(failure, connection) } }
    }

    /// Calls `body` with the runner of a session, if this version of the session still runs. It is called on the event
    /// loop.
    func run(_ key: ChatSessionKey, _ body: (SessionRunner) -> Void) {
        if let runner = self.state.value.runners[key.id], runner.session.key == key { body(runner) }
    }

    // MARK: Deadlines

    /// Schedules the call of a session's runner at a time or before. It is called on the event loop.
    func schedule(_ runner: SessionRunner, at deadline: Timestamp?) {
        guard let deadline, runner.scheduled.map({ deadline < $0 }) ?? true else { return }
        runner.scheduled = deadline
        self.state.value.wheel.add(runner.session.key.id, at: deadline)
        self.setTimer()
    }

    private func setTimer() {
        guard let next = self.state.value.wheel.next, self.state.value.timerAt.map({ next < $0 }) ?? true else {
            return
        }
        self.state.value.timer?.cancel()
        self.state.value.timerAt = next
        let delay = max(.zero, next.since(self.time.steady))
        self.state.value.timer = self.eventLoop.scheduleTask(in: TimeAmount(delay)) { self.timePassed() }
    }

    private func timePassed() {
        (self.state.value.timer, self.state.value.timerAt) = (nil, nil)
        let now = self.time.steady
        for id in self.state.value.wheel.takeDue(at: now) {
            guard let runner = self.state.value.runners[id] else { continue }
            // An earlier deadline has replaced this entry.
            if let scheduled = runner.scheduled, scheduled > now { continue }
            runner.scheduled = nil
            runner.timePassed()
        }
        self.setTimer()
    }
}

/// The deadlines of many sessions, rounded to seconds, so that one timer serves them all.
///
/// An entry is not moved when its deadline becomes later. Its session is called too early once, and then adds the later
/// deadline.
package struct TimerWheel: Sendable {
    /// The sessions by the second in which they are due, rounded up.
    private var slots: [Int64: [UUID]] = [:]

    package init() {}

    /// The end of the earliest second with a session, or `nil` without sessions.
    package var next: Timestamp? { self.slots.keys.min().map(Timestamp.init(seconds:)) }

    package mutating func add(_ id: UUID, at deadline: Timestamp) {
        let (seconds, isWhole) = (deadline.seconds, Timestamp(seconds: deadline.seconds) == deadline)
        self.slots[isWhole || seconds == .max ? seconds : seconds + 1, default: []].append(id)
    }

    /// Removes the sessions that are due.
    package mutating func takeDue(at now: Timestamp) -> [UUID] {
        let due = self.slots.keys.filter { Timestamp(seconds: $0) <= now }.sorted()
        return due.flatMap { self.slots.removeValue(forKey: $0) ?? [] }
    }
}
