import NIOCore
import Synchronization

/// A connection that has deadlines but no timer of its own.
protocol DeadlineConnection: AnyObject {
    /// Called on the connection's event loop, every ``IdleConnectionSweeper/interval``.
    func sweep()
}

/// Looks at the connections of a door from time to time, so that an idle one costs no timer.
final class IdleConnectionSweeper: Sendable {
    /// How late a deadline may be noticed.
    static let interval: TimeAmount = .milliseconds(250)

    /// The connections of one event loop.
    private final class Sweep {
        var members: [ObjectIdentifier: any DeadlineConnection] = [:]
        var task: RepeatedTask?
    }

    private let sweeps = Mutex<[ObjectIdentifier: NIOLoopBound<Sweep>]>([:])

    /// On the connection's event loop.
    func add(_ connection: any DeadlineConnection, on eventLoop: any EventLoop) {
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

    /// On the connection's event loop.
    func remove(_ connection: any DeadlineConnection, on eventLoop: any EventLoop) {
        let bound = self.sweeps.withLock { $0[ObjectIdentifier(eventLoop)] }
        bound?.value.members[ObjectIdentifier(connection)] = nil
    }
}
