package import Logging
package import NIOCore
import PushSupport
import Synchronization

/// Limits the unauthenticated connections of all listeners of a server.
///
/// It limits their number, their age and their total memory (``UnauthenticatedConnectionStateMachine/Limits``). An
/// authenticated connection is no longer tracked.
package final class UnauthenticatedConnectionBudget: Sendable {
    private typealias BoundHandler = NIOLoopBound<UnauthenticatedConnectionHandler>

    private struct State {
        var machine: UnauthenticatedConnectionStateMachine
        var handlers: [UnauthenticatedConnectionStateMachine.ID: BoundHandler] = [:]
        var log = LogLineLimiter<String>()
        var hasTimer = false
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> NIODeadline
    private let logger: Logger

    package init(
        limits: UnauthenticatedConnectionStateMachine.Limits = UnauthenticatedConnectionStateMachine.Limits(),
        logger: Logger,
        clock: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        self.state = Mutex(State(machine: UnauthenticatedConnectionStateMachine(limits: limits)))
        (self.clock, self.logger) = (clock, logger)
    }

    package var limits: UnauthenticatedConnectionStateMachine.Limits { self.state.withLock { $0.machine.limits } }

    package var count: Int { self.state.withLock { $0.machine.count } }

    /// The memory that all unauthenticated connections currently take, in bytes.
    package var bytes: Int { self.state.withLock { $0.machine.bytes } }

    /// Tracks a new connection, before other handlers are added. This method must be called on its event loop.
    /// - Returns: `false` if the connection is rejected and is being closed.
    package func admit(_ channel: any Channel, listener: String) throws -> Bool {
        let handler = UnauthenticatedConnectionHandler(self, listener: listener)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let now = self.clock()
        let (id, victim, startsTimer) = self.state.withLock { state in
            let (id, closes) = state.machine.open(now: now)
            let victim = closes.flatMap { state.handlers.removeValue(forKey: $0) }
            if let id { state.handlers[id] = bound }
            let startsTimer = id != nil && !state.hasTimer
            if startsTimer { state.hasTimer = true }
            return (id, victim, startsTimer)
        }
        if let victim { self.end([victim], .connections) }
        guard let id else {
            self.note(.connections, listener: listener)
            channel.close(promise: nil)
            return false
        }
        handler.id = id
        try channel.pipeline.syncOperations.addHandler(handler, position: .first)
        if startsTimer { self.schedule(on: channel.eventLoop) }
        return true
    }

    /// Stops tracking a connection that has shown a valid credential, or whose request was accepted. This method may be
    /// called on any thread.
    package static func markAuthenticated(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ConnectionAuthenticated())
    }

    // MARK: Called by the handler

    func hold(_ id: UnauthenticatedConnectionStateMachine.ID, bytes: Int) {
        let victim = self.state.withLock { state in
            state.machine.hold(id, bytes: bytes).flatMap { state.handlers.removeValue(forKey: $0) }
        }
        if let victim { self.end([victim], .bytes) }
    }

    func firstMessageReceived(_ id: UnauthenticatedConnectionStateMachine.ID) {
        self.state.withLock { $0.machine.firstMessageReceived(id) }
    }

    func close(_ id: UnauthenticatedConnectionStateMachine.ID) {
        self.state.withLock { state in
            state.machine.close(id)
            state.handlers[id] = nil
        }
    }

    // MARK: Closing

    /// Closes connections. Each is closed in a later tick of its event loop, because it may be in the middle of a read.
    private func end(_ victims: [BoundHandler], _ cause: UnauthenticatedConnectionStateMachine.Cause) {
        for victim in victims {
            victim.eventLoop.execute {
                self.note(cause, listener: victim.value.listener)
                victim.value.end(cause)
            }
        }
    }

    private func note(_ cause: UnauthenticatedConnectionStateMachine.Cause, listener: String) {
        let now = self.clock()
        guard let omitted = self.state.withLock({ $0.log.note("\(listener) \(cause)", now: now) }) else { return }
        self.logger.warning(
            "unauthenticated connection closed",
            metadata: ["listener": "\(listener)", "reason": "\(cause.rawValue)", "omitted": "\(omitted)"]
        )
    }

    /// Schedules a timer for the next deadline. One timer suffices, because the deadlines are in the order of age.
    private func schedule(on eventLoop: any EventLoop) {
        let (next, now) = (self.state.withLock { $0.machine.nextDeadline() }, self.clock())
        guard let next else { return self.state.withLock { $0.hasTimer = false } }
        eventLoop.scheduleTask(in: max(.milliseconds(10), next - now)) {
            let now = self.clock()
            let late = self.state.withLock { state in
                state.machine.tick(now: now).compactMap { state.handlers.removeValue(forKey: $0) }
            }
            self.end(late, .deadline)
            self.schedule(on: eventLoop)
        }
    }
}
