package import NIOCore
import Synchronization

/// Tells a request's task that its client has gone. A user event of the pipeline, see ``RequestBodyHandler``.
package final class ClientDisconnection: Sendable {
    private struct State {
        var isOver = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// The client has gone, or nobody needs to know any more.
    package func end() {
        self.state.withLock { state in
            state.isOver = true
            return state.waiter.take()
        }?
        .resume()
    }

    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = self.state.withLock { state in
                    if !state.isOver { state.waiter = continuation }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            self.end()
        }
    }
}

extension Channel {
    /// Runs `body`, and cancels it when the client closes the connection, or its half of it: nobody waits for the answer.
    /// For an HTTP/1 connection with a ``RequestBodyHandler``.
    /// - Throws: `CancellationError` then, or what `body` throws.
    package func whileClientWaits<Value: Sendable>(
        _ body: @Sendable @escaping () async throws -> Value
    ) async throws -> Value {
        let watch = ClientDisconnection()
        self.eventLoop.execute {
            guard self.isActive else { return watch.end() }
            self.pipeline.fireUserInboundEventTriggered(watch)
        }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                await watch.wait()
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else { throw CancellationError() }
            return value
        }
    }
}
