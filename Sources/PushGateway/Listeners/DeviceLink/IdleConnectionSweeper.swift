import NIOCore
import Synchronization

/// Checks the deadlines of a listener's connections at intervals, so that an idle connection needs no timer.
final class IdleConnectionSweeper: Sendable {
    /// The interval between two checks, which is the maximum time by which a deadline is noticed late.
    static let interval: TimeAmount = .milliseconds(250)

    private final class Sweep {
        var members: [ObjectIdentifier: DeviceLinkServerHandler] = [:]
        var task: RepeatedTask?
    }

    private let sweeps = Mutex<[ObjectIdentifier: NIOLoopBound<Sweep>]>([:])

    /// Adds a connection. This method must be called on its event loop.
    func add(_ connection: DeviceLinkServerHandler, on eventLoop: any EventLoop) {
        let bound = self.sweeps.withLock { sweeps in
            if let sweep = sweeps[ObjectIdentifier(eventLoop)] { return sweep }
            let sweep = NIOLoopBound(Sweep(), eventLoop: eventLoop)
            sweeps[ObjectIdentifier(eventLoop)] = sweep
            return sweep
        }
        let sweep = bound.value
        sweep.members[ObjectIdentifier(connection)] = connection
        guard sweep.task == nil else { return }
        sweep.task = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) { task in
            let sweep = bound.value
            for connection in Array(sweep.members.values) { connection.sweep() }
            guard sweep.members.isEmpty else { return }
            task.cancel()
            sweep.task = nil
        }
    }

    /// Removes a connection. This method must be called on its event loop.
    func remove(_ connection: DeviceLinkServerHandler, on eventLoop: any EventLoop) {
        let bound = self.sweeps.withLock { $0[ObjectIdentifier(eventLoop)] }
        bound?.value.members[ObjectIdentifier(connection)] = nil
    }
}
