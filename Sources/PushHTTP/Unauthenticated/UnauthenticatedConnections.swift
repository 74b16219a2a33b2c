package import Logging
package import NIOCore
import Synchronization

/// The connections of a server, over all its listeners, that have proven nothing: no credential, no accepted request.
///
/// One budget bounds the memory that they hold together, their number and their age (``UnauthenticatedStateMachine/Limits``). A
/// connection that has proven itself is in no list any more, and costs nothing here.
package final class UnauthenticatedConnections: Sendable {
    private struct State {
        var machine: UnauthenticatedStateMachine
        var handlers: [UnauthenticatedStateMachine.ID: NIOLoopBound<UnauthenticatedHandler>] = [:]
        var log = LogRateLimiter<String>()
        var hasTimer = false
    }

    private struct Victim {
        var handler: NIOLoopBound<UnauthenticatedHandler>
        var cause: UnauthenticatedStateMachine.Cause
    }

    private let state: Mutex<State>
    private let clock: @Sendable () -> NIODeadline
    private let logger: Logger

    package init(
        limits: UnauthenticatedStateMachine.Limits = UnauthenticatedStateMachine.Limits(),
        logger: Logger,
        clock: @escaping @Sendable () -> NIODeadline = { .now() }
    ) {
        self.state = Mutex(State(machine: UnauthenticatedStateMachine(limits: limits)))
        self.clock = clock
        self.logger = logger
    }

    package var limits: UnauthenticatedStateMachine.Limits { self.state.withLock { $0.machine.limits } }

    /// Unproven connections now.
    package var count: Int { self.state.withLock { $0.machine.count } }

    /// The bytes that they hold together.
    package var bytes: Int { self.state.withLock { $0.machine.bytes } }

    /// Takes a connection that was just accepted, before it has other handlers; on its event loop.
    /// - Returns: `false` if it is refused: it is being closed.
    package func admit(_ channel: any Channel, listener: String) throws -> Bool {
        let handler = UnauthenticatedHandler(self, listener: listener)
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let now = self.clock()
        let (id, victim, startsTimer) = self.state.withLock { state in
            let (id, ends) = state.machine.open(now: now)
            let victim = ends.flatMap { state.handlers.removeValue(forKey: $0) }
            if let id { state.handlers[id] = bound }
            let startsTimer = id != nil && !state.hasTimer
            if startsTimer { state.hasTimer = true }
            return (id, victim.map { Victim(handler: $0, cause: .connections) }, startsTimer)
        }
        if let victim { self.end([victim]) }
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

    /// The connection has shown a valid credential, or had a request accepted. From any thread.
    package static func prove(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ConnectionAuthenticated())
    }

    // MARK: The handler's side

    func hold(_ id: UnauthenticatedStateMachine.ID, bytes: Int) {
        let victim = self.state.withLock { state in
            state.machine.hold(id, bytes: bytes).flatMap { state.handlers.removeValue(forKey: $0) }
        }
        if let victim { self.end([Victim(handler: victim, cause: .bytes)]) }
    }

    func heard(_ id: UnauthenticatedStateMachine.ID) {
        self.state.withLock { $0.machine.heard(id) }
    }

    func close(_ id: UnauthenticatedStateMachine.ID) {
        self.state.withLock { state in
            state.machine.close(id)
            state.handlers[id] = nil
        }
    }

    // MARK: Ending

    /// Later, on the loop of each: a connection may be in the middle of a read.
    private func end(_ victims: [Victim]) {
        for victim in victims {
            victim.handler.eventLoop.execute {
                self.note(victim.cause, listener: victim.handler.value.listener)
                victim.handler.value.end(victim.cause)
            }
        }
    }

    private func note(_ cause: UnauthenticatedStateMachine.Cause, listener: String) {
        let now = self.clock()
        guard let omitted = self.state.withLock({ $0.log.note("\(listener) \(cause)", now: now) }) else { return }
        self.logger.warning(
            "connection without a proof ended",
            metadata: ["listener": "\(listener)", "reason": "\(cause.rawValue)", "omitted": "\(omitted)"]
        )
    }

    /// One timer at a time serves all connections, as all have the same time.
    private func schedule(on eventLoop: any EventLoop) {
        let (next, now) = (self.state.withLock { $0.machine.nextDeadline() }, self.clock())
        guard let next else { return self.state.withLock { $0.hasTimer = false } }
        eventLoop.scheduleTask(in: max(.milliseconds(10), next - now)) {
            let now = self.clock()
            let late = self.state.withLock { state in
                state.machine.tick(now: now).compactMap { state.handlers.removeValue(forKey: $0) }
            }
            self.end(late.map { Victim(handler: $0, cause: .deadline) })
            self.schedule(on: eventLoop)
        }
    }
}
