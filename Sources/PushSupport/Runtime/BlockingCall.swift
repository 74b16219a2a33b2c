import Dispatch

/// Runs work that blocks its thread on a thread that no task needs.
///
/// A task that blocks occupies one of few threads. If it waits for work that needs such a thread, neither continues.
package func runBlocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        // The work gets its own queue, as the global ones share their threads with the tasks.
        DispatchQueue(label: "martlet.blocking").async { continuation.resume(with: Result(catching: work)) }
    }
}
