package import Foundation
import NIOCore
import ProviderModel
import PushSupport
package import PushTypes

/// Performs those actions of sessions that do not belong on their event loop. Every method returns without waiting.
protocol SessionLoopDelegate: AnyObject, Sendable {
    /// Queues a session for connecting. At the session's turn, ``SessionLoop/begin(_:)`` must be called.
    func open(_ session: RunningSession, _ loop: SessionLoop)
    /// Submits a push of a session.
    /// - Parameter placed: Called once a push that had to wait has entered the queue or was dropped.
    /// - Returns: `false` if the push waits because its app has too many.
    func push(_ push: ChatPush, _ session: RunningSession, placed: @escaping @Sendable () -> Void) -> Bool
    func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey)
    /// Records the condition of a session, or `nil` once the session no longer runs.
    func setCondition(_ condition: ChatSessionCondition?, _ session: RunningSession)
}

/// The sessions that run on one event loop. They share one timer.
final class SessionLoop: Sendable {
    private struct State {
        var runners: [UUID: SessionRunner] = [:]
        var wheel = TimerWheel()
        var timer: Scheduled<Void>?
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

    /// Starts a session. It replaces a running session with the same id and an earlier revision.
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

    /// Stops the session with an id if it runs, and waits until its connection is closed.
    /// - Parameter isRemoved: Whether the session's record was removed, so that waiting messages are not pushed.
    func stop(_ id: UUID, isRemoved: Bool = false) async {
        let closed = self.eventLoop.flatSubmit {
            let closed = self.state.value.runners.removeValue(forKey: id)?.stop(isRemoved: isRemoved)
            return closed ?? self.eventLoop.makeSucceededVoidFuture()
        }
        try? await closed.get()
    }

    /// Begins a connection attempt of a session whose turn it is. Returns `nil` if the session no longer needs one.
    func begin(_ session: RunningSession) async -> ConnectionAttempt? {
        let begun = self.eventLoop.submit { () -> ConnectionAttempt? in
            guard let runner = self.state.value.runners[session.key.id], runner.session.key == session.key else {
                return nil
            }
            return runner.begin()
        }
        return (try? await begun.get()) ?? nil
    }

    /// Adds the handlers of a session to the pipeline of its connection. This method must be called on the event loop.
    /// - Parameter handshake: A value that is resolved when the TLS handshake completes or the connection is closed.
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

    /// Reports to a session that the connection with a number could not be opened. A session with a later connection
    /// ignores it.
    func failed(_ session: RunningSession, _ failure: ChatFailure, connection: Int) {
        self.eventLoop.execute { self.run(session.key) { $0.closed(failure, connection) } }
    }

    /// Calls `body` with the runner of a session, if the session still runs with this revision. This method must be
    /// called on the event loop.
    func run(_ key: ChatSessionKey, _ body: (SessionRunner) -> Void) {
        if let runner = self.state.value.runners[key.id], runner.session.key == key { body(runner) }
    }

    // MARK: Deadlines

    /// Schedules a call of the runner's `timePassed()` no later than `deadline`, or no call if `deadline` is `nil`.
    /// This method must be called on the event loop.
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
            // This entry is obsolete, because the session has a later deadline now.
            if let scheduled = runner.scheduled, scheduled > now { continue }
            runner.scheduled = nil
            runner.timePassed()
        }
        self.setTimer()
    }
}

/// The deadlines of many chat sessions, rounded up to seconds, so that one timer serves them all.
///
/// An entry is not moved when its deadline becomes later. Instead, its session is called too early once, and then adds
/// the later deadline.
package struct TimerWheel: Sendable {
    /// The ids of sessions, by the second of the steady clock to which their deadline was rounded up.
    private var slots: [Int64: [UUID]] = [:]

    package init() {}

    /// The earliest rounded deadline, or `nil` if there is none.
    package var next: Timestamp? { self.slots.keys.min().map(Timestamp.init(seconds:)) }

    package mutating func add(_ id: UUID, at deadline: Timestamp) {
        let (seconds, isWhole) = (deadline.seconds, Timestamp(seconds: deadline.seconds) == deadline)
        self.slots[isWhole || seconds == .max ? seconds : seconds + 1, default: []].append(id)
    }

    /// Removes and returns the ids of sessions whose deadlines have passed.
    package mutating func takeDue(at now: Timestamp) -> [UUID] {
        let due = self.slots.keys.filter { Timestamp(seconds: $0) <= now }.sorted()
        return due.flatMap { self.slots.removeValue(forKey: $0) ?? [] }
    }
}
