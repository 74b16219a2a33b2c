package import Logging
package import NIOCore
import Synchronization

/// The connections of a listener: limits and tracks them, and closes them all in the end.
package final class ListenerConnections: Sendable {
    private struct State {
        var server: (any Channel)?
        var children: [ObjectIdentifier: any Channel] = [:]
        /// Set by ``ListenerConnections/close(draining:)``: new connections are closed at once.
        var isClosing = false
    }

    private let listener: String
    private let maximum: Int
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - listener: The listener's name in the log.
    ///   - maximum: The number of connections that may be open at a time; more are closed at once.
    package init(of listener: String, maximum: Int, logger: Logger) {
        (self.listener, self.maximum, self.logger) = (listener, maximum, logger.ofStrangers())
    }

    /// The number of open connections.
    package var count: Int { self.state.withLock { $0.children.count } }

    /// Remembers the channel that listens.
    package func began(_ server: any Channel) { self.state.withLock { $0.server = server } }

    /// Counts a new connection until it is closed.
    /// - Parameter others: The number of open connections that have a limit of their own. Default 0.
    /// - Returns: `false` for one that is closed at once.
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

    /// Stops listening and returns once all connections are closed.
    /// - Parameter draining: Whether connections may finish their work first.
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
