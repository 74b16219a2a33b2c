package import NIOCore
package import PushTypes

/// A state machine without I/O for the client's side of one feedback connection (APNs reference 6). The client sends
/// nothing. It reads tuples until the server closes the connection with a TLS closure alert, or until the first error.
/// The method for an event returns the actions to perform, in order.
package struct FeedbackClientStateMachine: ~Copyable, Sendable {
    package enum Action: Hashable, Sendable {
        case deliver(FeedbackTuple)
        /// Report that the list is complete, because the server has closed the connection properly.
        case finish
        /// Report that the list is truncated or invalid, and close the connection.
        case fail(FeedbackError)
    }

    private enum State {
        case reading(count: Int)
        case closed
    }

    private let limit: Int
    private var state = State.reading(count: 0)
    private var received = ByteBuffer()

    /// Creates a state machine that fails if the list has more than `limit` tuples.
    package init(limit: Int) { self.limit = limit }

    package mutating func receive(_ bytes: ByteBuffer) -> [Action] {
        guard case .reading(var count) = self.state else { return [] }
        self.received.writeImmutableBuffer(bytes)
        var actions: [Action] = []
        do {
            while let tuple = try FeedbackTuple.read(from: &self.received) {
                count += 1
                guard count <= self.limit else { return actions + self.fail(.tooManyTuples) }
                actions.append(.deliver(tuple))
            }
        } catch {
            return actions + self.fail(.malformed(tokenLength: error.tokenLength))
        }
        self.state = .reading(count: count)
        self.received.discardReadBytes()
        return actions
    }

    /// Fails, because the server has sent nothing within the idle timeout.
    package mutating func timedOut() -> [Action] { self.fail(.timedOut) }

    /// Handles the end of the connection, which completes the list only if it is clean and follows a complete tuple.
    /// - Parameter isClean: Pass `true` if the server closed TLS before TCP. Otherwise, the list may be truncated.
    package mutating func connectionClosed(isClean: Bool) -> [Action] {
        guard isClean, self.received.readableBytes == 0 else { return self.fail(.truncated) }
        guard case .reading = self.state else { return [] }
        self.state = .closed
        return [.finish]
    }

    private mutating func fail(_ error: FeedbackError) -> [Action] {
        guard case .reading = self.state else { return [] }
        self.state = .closed
        self.received.clear()
        return [.fail(error)]
    }
}
