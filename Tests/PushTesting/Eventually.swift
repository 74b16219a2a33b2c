/// Waits until a condition holds. It looks once a millisecond, and leaves the processors to what it waits for.
/// - Throws: `CancellationError`, and the errors of the condition.
package func eventually(_ isTrue: () async throws -> Bool) async throws {
    while try await !isTrue() { try await Task.sleep(for: .milliseconds(1)) }
}
