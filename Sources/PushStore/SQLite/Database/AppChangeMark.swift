import GRDB
import Synchronization

/// A flag that is set when a transaction changes a table on which ``AppCache`` depends. Triggers on the writer's
/// connection set it.
final class AppChangeMark: Sendable {
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
        for (table, columns) in AppCache.tables {
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
