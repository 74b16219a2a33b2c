/// Returns the result of `body`, or `nil` if `body` takes longer than a limit. In this case `body` is cancelled, and
/// the function returns once `body` has finished.
///
/// - Throws: The error of `body`, and `CancellationError`.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
    try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        return try await group.next() ?? nil
    }
}
