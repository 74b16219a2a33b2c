package import NIOCore

/// A signal that the client of a request has closed the connection or its half of it.
///
/// It is fired through the pipeline as a user event, and ``RequestBodyHandler`` ends it.
package final class ClientDisconnection: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    package init() {}

    /// Resumes a present or later call of ``wait()``, because the client has gone or the request has ended.
    package func end() { self.continuation.finish() }

    /// Returns after ``end()``, or when the task is cancelled.
    func wait() async {
        for await _ in self.stream {}
    }
}

extension Channel {
    /// Runs `body`. Cancels it when the client closes the connection or its half of it, because its response would not
    /// be read.
    ///
    /// The channel is an HTTP/1.1 connection with a ``RequestBodyHandler``.
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
