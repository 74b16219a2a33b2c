import Foundation
import GRDB
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 29, from a database whose bridges have no order.
@Suite(.timeLimit(.patience)) struct BridgeNumbersMigrationTests {
    @Test func theStandardBridgeIsTheFirstAndThenThatWhichChangedFirst() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "28 push resource origins")
            try await queue.write { database in
                for (id, bundleID) in [(7, "com.example.A"), (8, "com.example.B")] {
                    let sql = "INSERT INTO app (id, bundleID, createdAt) VALUES (?, ?, 1)"
                    try database.execute(sql: sql, arguments: [id, bundleID])
                }
                let bridges: [(name: String, app: Int64, at: Int64)] = [
                    ("com.example.A", 7, 6), ("com.example.B", 8, 5), ("default", 8, 9),
                ]
                for bridge in bridges {
                    try database.execute(
                        sql: """
                            INSERT INTO bridge (kind, name, app, settings, revision, changedAt)
                            VALUES ('gorush', ?, ?, '{}', ?, ?)
                            """,
                        arguments: [bridge.name, bridge.app, UUID().uuidString, bridge.at]
                    )
                }
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let now = Timestamp(milliseconds: 10)
            let new = BridgeRecord(kind: .gorush, name: "com.example.C", app: 7, changedAt: now)
            _ = try await store.setBridge(new, keepsSecret: false)
            let bridges = try await store.bridges(kind: .gorush).sorted { $0.number < $1.number }
            #expect(bridges.map(\.name) == ["default", "com.example.B", "com.example.A", "com.example.C"])
            #expect(bridges.map(\.number) == [1, 2, 3, 4])
            try await store.close()
        }
    }
}
