import Synchronization

/// The messages that bridges forward at once, and that the ledger does not have. A stop of their app counts those that are
/// under way (docs/decisions/0051).
package final class ForwardsInFlight: Sendable {
    private let counts = Mutex<[Int64: Int]>([:])

    package init() {}

    /// Forwards a message of an app, which counts until this returns.
    ///
    /// The stop of the app is looked up within `body`, so that one that comes later counts the message.
    package func forward<Value>(app: Int64, _ body: () async throws -> Value) async throws -> Value {
        self.change(app, by: 1)
        defer { self.change(app, by: -1) }
        return try await body()
    }

    /// Returns the number of an app's messages that are under way.
    package func count(of app: Int64) -> Int { self.counts.withLock { $0[app] ?? 0 } }

    private func change(_ app: Int64, by number: Int) {
        self.counts.withLock { counts in
            let count = (counts[app] ?? 0) + number
            counts[app] = count > 0 ? count : nil
        }
    }
}
