package import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// The connections of a listener. It binds the port, tracks and limits the connections, and closes them at shutdown.
package final class ListenerConnections: Sendable {
    private struct State {
        var server: (any Channel)?
        var children: [ObjectIdentifier: any Channel] = [:]
        /// A Boolean value that indicates whether ``ListenerConnections/close(draining:)`` was called. If so, new
        /// connections are closed.
        var isClosing = false
    }

    private let listener: String
    private let maximum: Int
    private let logger: Logger
    private let state = Mutex(State())

    /// Creates an object that does not listen yet.
    /// - Parameters:
    ///   - listener: The listener's name in the log.
    ///   - maximum: The maximum number of open connections. Further connections are closed immediately.
    package init(of listener: String, maximum: Int, logger: Logger) {
        (self.listener, self.maximum, self.logger) = (listener, maximum, logger.rateLimited())
    }

    package var count: Int { self.state.withLock { $0.children.count } }

    /// Binds a port and starts to listen.
    /// - Parameters:
    ///   - backlog: The maximum number of connections that wait to be accepted.
    ///   - allowsHalfClosure: Whether a client that has closed its write side still receives responses.
    ///   - initialize: Adds the handlers of a new connection, on the connection's event loop.
    /// - Returns: The listening channel.
    package func bind(
        host: String,
        port: Int,
        backlog: Int32,
        allowsHalfClosure: Bool,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) async throws -> any Channel {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: allowsHalfClosure)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try initialize(channel) }
            }
            .bind(host: host, port: port)
            .get()
        self.state.withLock { $0.server = server }
        return server
    }

    /// Tracks a new connection until it is closed.
    /// - Parameter others: The number of open connections that another limit covers. Default 0.
    /// - Returns: `false` if the connection was closed, because too many are open or the listener is closing.
    package func admit(_ channel: any Channel, besides others: Int = 0) -> Bool {
        let id = ObjectIdentifier(channel)
        let isAdmitted = self.state.withLock { state in
            guard !state.isClosing, state.children.count - others < self.maximum else { return false }
            state.children[id] = channel
            return true
        }
        guard isAdmitted else {
            self.logger.warning("connection rejected, too many are open", metadata: ["listener": "\(self.listener)"])
            channel.close(promise: nil)
            return false
        }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.children[id] = nil } }
        return true
    }

    /// Stops listening, and returns once all connections are closed.
    /// - Parameter draining: Whether connections may finish their requests first. If not, they are closed immediately.
    package func close(draining: Bool) async {
        let (server, children) = self.state.withLock { state in
            state.isClosing = true
            return (state.server, Array(state.children.values))
        }
        try? await server?.close()
        for child in children {
            if draining {
                child.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
            } else {
                child.close(promise: nil)
            }
        }
        for child in children { try? await child.closeFuture.get() }
    }
}
