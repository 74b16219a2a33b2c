import NIOCore

/// Reaches a connection from any thread.
struct ConnectionHandle: Sendable {
    private let eventLoop: any EventLoop
    private let connection: NIOLoopBound<PushConnection>

    /// On the connection's event loop.
    init(_ connection: PushConnection, eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.connection = NIOLoopBound(connection, eventLoop: eventLoop)
    }

    /// Lets the connection ask for work.
    func wake() {
        self.eventLoop.execute { self.connection.value.work() }
    }

    /// Lets it take no more work, and close when its replies are there.
    func drain() {
        self.eventLoop.execute { self.connection.value.drain() }
    }
}
