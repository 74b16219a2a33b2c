import Foundation
import GRDB
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 33, from a database with an erasure that is under way.
@Suite(.timeLimit(.patience)) struct UserChangesMigrationTests {
    private let now = Vectors.issuedAt

    /// The third device was added after the request for Alice's erasure.
    @Test func anErasureUnderWayGoesOnWithWhatWasThereAtItsRequest() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let queue = try DatabaseQueue(path: path)
            try SQLiteSchema.migrator.migrate(queue, upTo: "32 file usage")
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt) VALUES (7, 'com.example.Old', 1);
                        INSERT INTO erasure (id, app, user, requestedAt, lastDevice, lastNotification)
                            VALUES (1, 7, 'alice', 1, 2, NULL)
                        """
                )
                for (number, user) in [(1, "alice"), (2, "bob"), (3, "alice"), (4, "carol"), (5, "bob")] {
                    try database.execute(
                        sql: """
                            INSERT INTO device (id, app, environment, token, isActive, createdAt, registeredAt,
                                suspicions, user)
                            VALUES (?, 7, 1, ?, 1, 1, 1, 0, ?)
                            """,
                        arguments: [number, Data(DeviceToken.numbered(number).bytes), user]
                    )
                }
            }
            try queue.close()
            let store = try SQLiteStore(path: path, masterKey: try .fixture(1))
            func devices(of user: String) async throws -> [Int64] {
                try await store.devices(app: 7, audience: .user(user), after: 0, limit: 9).map(\.id)
            }
            try await store.register(2, app: 7) { $0.user = .set("alice") }
            let erasure = try #require(try await store.erasures().first)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await devices(of: "alice") == [2, 3])
            // A request after the migration has all devices from before it.
            let other = try await store.eraseUser("carol", app: 7, steady: self.now)
            try await store.register(5, app: 7) { $0.user = .set("carol") }
            while try await store.continueErasure(other, now: self.now) {}
            #expect(try await devices(of: "carol") == [5])
            try store.close()
        }
    }
}
