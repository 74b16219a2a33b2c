import Synchronization

/// Counts the messages that bridges are forwarding, which are not in the ledger. A stop of an app reports how many of
/// the app's messages are in flight (docs/decisions/0051).
package final class ForwardsInFlight: Sendable {
    private let counts = Mutex<[Int64: Int]>([:])

    package init() {}

    /// Forwards a message of an app, which counts as in flight until the method returns.
    ///
    /// `body` must look up whether the app is stopped, so that a stop either prevents the message or counts it.
    package func forward<Value>(app: Int64, _ body: () async throws -> Value) async throws -> Value {
        self.change(app, by: 1)
        defer { self.change(app, by: -1) }
        return try await body()
    }

    /// Returns the number of an app's messages that are in flight.
    package func count(of app: Int64) -> Int { self.counts.withLock { $0[app] ?? 0 } }

    private func change(_ app: Int64, by number: Int) {
        self.counts.withLock { counts in
            let count = (counts[app] ?? 0) + number
            counts[app] = count > 0 ? count : nil
        }
    }
}
