import GRDB
import PushTypes
import Synchronization

/// The lists of apps that are gone, by topic: filled by the core, emptied by providers that read them (reference 6).
final class FeedbackStore: Sendable {
    private struct State {
        /// Entries of each topic, at most too many: a transaction that was rolled back is not known here.
        var counts: [Topic: Int] = [:]
        var dropped = 0
    }

    private let database: any DatabaseWriter
    private let environment: PushEnvironment
    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: entries per topic, for providers that never read them. Further ones are dropped; the next push
    ///   to such a token brings it back.
    init(database: any DatabaseWriter, environment: PushEnvironment, limit: Int = 50_000) {
        self.database = database
        self.environment = environment
        self.limit = limit
    }

    /// Entries that found no room since the gateway started.
    var dropped: Int { self.state.withLock { $0.dropped } }

    /// Lists a token, once, within a transaction of the caller's. Whether it is listed now.
    @discardableResult
    func add(_ entry: FeedbackEntry, in database: Database) throws -> Bool {
        let table = FeedbackTable(database: database, environment: self.environment)
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

    /// The next entries of a topic; see ``FeedbackTable/page(_:after:until:limit:)``.
    func page(
        _ topic: Topic,
        after token: DeviceToken?,
        until latest: Timestamp,
        limit: Int
    ) async throws -> [FeedbackEntry] {
        let environment = self.environment
        return try await self.database.read { database in
            try FeedbackTable(database: database, environment: environment)
                .page(topic, after: token, until: latest, limit: limit)
        }
    }

    /// The entries that were found last, of one topic or of all.
    func newest(topic: String?, limit: Int) async throws -> [FeedbackEntry] {
        let environment = self.environment
        return try await self.database.read { database in
            try FeedbackTable(database: database, environment: environment).newest(topic: topic, limit: limit)
        }
    }

    /// A provider has read these. What was listed again with another time meanwhile stays.
    func clear(_ entries: [FeedbackEntry]) async throws {
        let environment = self.environment
        try await self.database.write { database in
            let table = FeedbackTable(database: database, environment: environment)
            for entry in entries { try table.remove(entry) }
        }
        let topics = Set(entries.map(\.topic))
        // Counted again by the next one to add, in its transaction.
        self.state.withLock { state in for topic in topics { state.counts[topic] = nil } }
    }
}
