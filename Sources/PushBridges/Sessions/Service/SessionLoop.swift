import Foundation
import NIOCore
import PushStore
import PushSupport
import PushTypes

/// Carries out what sessions want from outside of their event loop. Every method returns at once.
protocol SessionLoopDelegate: AnyObject, Sendable {
    /// A session waits for its turn to connect, at which ``SessionLoop/begin(_:)`` is called.
    func open(_ session: RunningSession, _ loop: SessionLoop)
    /// - Parameter placed: Is called once if the push waits, when it does no more.
    /// - Returns: `false` for a push that waits, as its app has too many.
    func push(_ push: ChatPush, _ session: RunningSession, placed: @escaping @Sendable () -> Void) -> Bool
    func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey)
    /// - Parameter condition: `nil` for a session that runs no more.
    func setCondition(_ condition: ChatSessionCondition?, _ session: RunningSession)
}

/// The sessions of one event loop, with one timer for all of them.
final class SessionLoop: Sendable {
    /// The state, which is used on the event loop only.
    private struct State {
        var runners: [UUID: SessionRunner] = [:]
        var wheel = TimerWheel()
        var timer: Scheduled<Void>?
        /// The time at which the timer fires.
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

    /// Starts a session, in place of an earlier version of it.
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

    /// Ends a session, and waits until its connection is closed.
    /// - Parameter isRemoved: See ``SessionSupervisor/stop(isRemoved:)``.
    func stop(_ id: UUID, isRemoved: Bool = false) async {
        let closed = self.eventLoop.flatSubmit {
            let closed = self.state.value.runners.removeValue(forKey: id)?.stop(isRemoved: isRemoved)
            return closed ?? self.eventLoop.makeSucceededVoidFuture()
        }
        try? await closed.get()
    }

    /// It is a session's turn to connect.
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

    /// Calls a method of a session that runs, in this version of it: another counts its connections anew. It is called on the
    /// event loop.
    func run(_ key: ChatSessionKey, _ body: (SessionRunner) -> Void) {
        if let runner = self.state.value.runners[key.id], runner.session.key == key { body(runner) }
    }

    // MARK: Deadlines

    /// Sees to it that a session is asked at a time, or before. It is called on the event loop.
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
            // An entry that a nearer deadline has overtaken.
            if let scheduled = runner.scheduled, scheduled > now { continue }
            runner.scheduled = nil
            runner.timePassed()
        }
        self.setTimer()
    }
}
