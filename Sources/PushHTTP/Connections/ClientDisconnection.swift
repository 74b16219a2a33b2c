package import NIOCore
import Synchronization

/// A signal that the client of a request has closed the connection, or its half of it.
///
/// It is fired through the pipeline as a user event, and ``RequestBodyHandler`` ends it.
package final class ClientDisconnection: Sendable {
    private struct State {
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Resumes the waiter: the client has gone, or the request has ended.
    package func end() {
        self.state.withLock { state in
            state.hasEnded = true
            return state.waiter.take()
        }?
        .resume()
    }

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEnded = self.state.withLock { state in
                    if !state.hasEnded { state.waiter = continuation }
                    return state.hasEnded
                }
                if hasEnded { continuation.resume() }
            }
        } onCancel: {
            self.end()
        }
    }
}

extension Channel {
    /// Runs `body`, and cancels it when the client closes the connection, or its half of it: nobody reads the response
    /// then.
    ///
    /// The channel is an HTTP/1.1 connection with a ``RequestBodyHandler``.
    ///
    /// - Throws: `CancellationError` if the client has gone, or the error of `body`.
    package func withClientConnected<Value: Sendable>(
        _ body: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        let disconnection = ClientDisconnection()
        self.eventLoop.execute {
            guard self.isActive else { return disconnection.end() }
            self.pipeline.fireUserInboundEventTriggered(disconnection)
        }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                await disconnection.wait()
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw CancellationError() }
            return value
        }
    }
}
