import NIOCore

/// Calls a ``PushConnection`` from any thread.
struct ConnectionHandle: Sendable {
    private let eventLoop: any EventLoop
    private let connection: NIOLoopBound<PushConnection>

    /// Must be called on the connection's event loop.
    init(_ connection: PushConnection, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    /// Makes the connection take work.
    func wake() {
        self.eventLoop.execute { self.connection.value.work() }
    }

    /// Closes the connection after its outstanding responses.
    func drain() {
        self.eventLoop.execute { self.connection.value.drain() }
    }
}
