import PushTypes
import Synchronization

/// The feedback entries of one environment, by topic: the tokens of apps that were removed from devices. They are kept
/// until a provider has read them (reference 6).
final class FeedbackList: Sendable {
    private struct State {
        /// The number of entries of each topic. It may be too high after a transaction that was rolled back.
        var counts: [Topic: Int] = [:]
        var dropped = 0
    }

    private let database: GatewayDatabase
    private let environment: PushEnvironment
    private let limit: Int
    private let state = Mutex(State())

    /// Creates the list of one environment.
    /// - Parameter limit: The maximum number of entries of a topic, for providers that never read them. Further ones
    ///   are dropped. The next push to a dropped token adds it again. Default 50,000.
    init(database: GatewayDatabase, environment: PushEnvironment, limit: Int = 50_000) {
        (self.database, self.environment, self.limit) = (database, environment, limit)
    }

    var dropped: Int { self.state.withLock { $0.dropped } }

    /// Adds a token to its topic's list, or updates the token's entry, within the caller's transaction.
    /// - Returns: `false` if the list is full and the entry was dropped.
    @discardableResult
    func add(_ entry: FeedbackEntry, in tables: GatewayTables) throws -> Bool {
        let table = tables.feedback(self.environment)
        let known = self.state.withLock { $0.counts[entry.topic] }
        let count = try known ?? table.count(entry.topic)
        guard count < self.limit else {
            if try table.update(entry) { return true }
            self.state.withLock { state in
                state.counts[entry.topic] = count
                state.dropped += 1
            }
            return false
        }
        let isNew = try table.add(entry)
        self.state.withLock { $0.counts[entry.topic] = isNew ? count + 1 : count }
        return true
    }

    /// Returns the next entries of a topic, as described at ``FeedbackTable/page(_:after:until:limit:)``.
    func page(
        _ topic: Topic,
        after token: DeviceToken?,
        until latest: Timestamp,
        limit: Int
    ) async throws -> [FeedbackEntry] {
        let environment = self.environment
        return try await self.database.read { tables in
            try tables.feedback(environment).page(topic, after: token, until: latest, limit: limit)
        }
    }

    /// Returns the newest entries of one topic, or of all topics if `topic` is `nil`. The newest entry is the first.
    func newest(topic: String?, limit: Int) async throws -> [FeedbackEntry] {
        let environment = self.environment
        return try await self.database.read { try $0.feedback(environment).newest(topic: topic, limit: limit) }
    }

    /// Removes entries that a provider has read, except those whose time has changed since then.
    func clear(_ entries: [FeedbackEntry]) async throws {
        let environment = self.environment
        try await self.database.write { tables in
            let table = tables.feedback(environment)
            for entry in entries { try table.remove(entry) }
        }
        let topics = Set(entries.map(\.topic))
        // The next call of `add` counts again, in its transaction.
        self.state.withLock { state in for topic in topics { state.counts[topic] = nil } }
    }
}
