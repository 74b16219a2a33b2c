import GRDB
import ProviderModel
import PushSupport
import PushTypes
import Synchronization

/// A cache of facts about apps that every notification needs.
///
/// A change of the underlying tables by any statement empties the cache before the change returns (``AppChangeMark``).
final class AppCache: Sendable {
    /// A fact that can be looked up. Its case determines the type of the value.
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

    /// Returns the cached value of a fact, or reads and caches it.
    func value<Value: Sendable>(_ question: Question, _ read: () async throws -> Value) async throws -> Value {
        let answer = try await self.answers.read(question) { Answer(value: try await read()) }
        if let answer = answer as? Answer<Value> { return answer.value }
        return try await read()
    }

    func forget() { self.answers.forget() }
}

/// A mark for transactions that have changed tables which ``AppCache`` depends on. Triggers of the writer's connection set
/// it, so that no statement can be missed.
final class AppChangeMark: Sendable {
    /// The tables that set the mark. Where only some columns matter and others change often, these columns are listed.
    private static let tables: [(name: String, columns: String?)] = [
        (
            "app",
            "bundleID, name, rate, receipts, installationTags, installationAttributes, capCount, capWindow, isErased"
        ),
        ("appStop", nil), ("credential", nil), ("webhook", "app, events, isActive"),
    ]
    private static let function = "markAppChange"

    private let isSet = Atomic(false)

    /// Adds the triggers to the writer's connection, for as long as it is open.
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

    /// Returns `true` if the mark was set since the last call. Setting and reading it happen on the writer's queue, one
    /// transaction after the other.
    func take() -> Bool { self.isSet.exchange(false, ordering: .relaxed) }
}
