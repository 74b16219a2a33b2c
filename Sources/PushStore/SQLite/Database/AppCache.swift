import GRDB
import ProviderModel
import PushSupport
import PushTypes
import Synchronization

/// A cache of facts about apps that every accepted or sent notification depends on.
///
/// A change of the underlying tables clears the cache before the call that writes returns (``AppChangeMark``).
final class AppCache: Sendable {
    /// The key of a cached fact. Its case determines the type of the value.
    enum Question: Hashable {
        case app(id: Int64)
        case appNamed(Topic)
        case environments(app: Int64)
        case stop(app: Int64)
        case wants(WebhookRecord.Event, app: Int64)
    }

    private struct Answer<Value: Sendable>: Sendable {
        let value: Value
    }

    private let answers = SharedCache<Question, any Sendable>(maximum: 10_000)

    /// Returns the cached value for a key, or calls `read` and caches its result.
    func value<Value: Sendable>(_ question: Question, _ read: () async throws -> Value) async throws -> Value {
        let answer = try await self.answers.read(question) { Answer(value: try await read()) }
        if let answer = answer as? Answer<Value> { return answer.value }
        return try await read()
    }

    func forget() { self.answers.forget() }
}

/// A flag that is set when a transaction changes a table on which ``AppCache`` depends. Triggers on the writer's
/// connection set it, so that no statement is missed.
final class AppChangeMark: Sendable {
    /// The tables whose changes set the flag. Insertions and deletions always set it. Updates set it if they concern
    /// one of the named columns or, with `nil`, any column.
    private static let tables: [(name: String, columns: String?)] = [
        (
            "app",
            "bundleID, name, rate, receipts, installationTags, installationAttributes, capCount, capWindow, isErased"
        ),
        ("appStop", nil), ("credential", nil), ("webhook", "app, events, isActive"),
    ]
    private static let function = "markAppChange"

    private let isSet = Atomic(false)

    /// Creates the triggers on the writer's connection. They are temporary and last until it is closed.
    func install(in database: Database) throws {
        database.add(
            function: DatabaseFunction(Self.function, argumentCount: 0) { [isSet = self] _ in
                isSet.set()
                return nil
            }
        )
        for (table, columns) in Self.tables {
            for event in ["INSERT", "DELETE", columns.map { "UPDATE OF \($0)" } ?? "UPDATE"] {
                let name = "\(table)\(event.prefix(6))Mark"
                try database.execute(
                    sql: """
                        CREATE TEMP TRIGGER \(name) AFTER \(event) ON main.\(table)
                        BEGIN SELECT \(Self.function)(); END
                        """
                )
            }
        }
    }

    private func set() { self.isSet.store(true, ordering: .relaxed) }

    /// Resets the flag, and returns whether it was set. This runs, like transactions, on the writer's queue.
    func take() -> Bool { self.isSet.exchange(false, ordering: .relaxed) }
}
