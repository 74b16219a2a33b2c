package import NIOCore

/// A signal that the client of a request has closed the connection, or its side of the connection.
///
/// It is fired through the pipeline as a user event. ``RequestBodyHandler`` triggers it by calling ``end()``.
package final class ClientDisconnection: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    package init() {}

    /// Resumes the present or a later call of ``wait()``, because the client is gone or the request is finished.
    package func end() { self.continuation.finish() }

    /// Returns once ``end()`` is called or the task is cancelled.
    func wait() async {
        for await _ in self.stream {}
    }
}

extension Channel {
    /// Runs `body`, and cancels it when the client closes the connection or its side of it, because the client would
    /// not read the response.
    ///
    /// The channel must be an HTTP/1.1 connection with a ``RequestBodyHandler``.
    /// - Throws: `CancellationError` if the client has disconnected, or the error of `body`.
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
