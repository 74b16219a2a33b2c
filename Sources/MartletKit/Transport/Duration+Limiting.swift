extension Duration {
    /// Returns the result of `body`, which is cancelled after this time.
    /// - Throws: ``TransportError/deadlineExceeded``, and the errors of `body`.
    package func limiting<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: self)
                throw TransportError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
