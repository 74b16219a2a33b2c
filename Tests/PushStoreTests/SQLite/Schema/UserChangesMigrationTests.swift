import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 33, from a database with an erasure that is under way.
@Suite(.timeLimit(.patience)) struct UserChangesMigrationTests {
    private let now = Vectors.issuedAt

    /// Opens a database in which the third device was added after the request for Alice's erasure.
    private func run(_ body: (SQLStore) async throws -> Void) async throws {
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
                let devices: [(number: Int, user: String, installation: String?)] = [
                    (1, "alice", "tablet"), (2, "bob", nil), (3, "alice", "phone"), (4, "carol", nil), (5, "bob", nil),
                    (6, "dora", "desk"),
                ]
                for device in devices {
                    try database.execute(
                        sql: """
                            INSERT INTO device (id, app, environment, token, isActive, createdAt, registeredAt,
                                suspicions, user, installation)
                            VALUES (?, 7, 1, ?, 1, 1, 1, 0, ?, ?)
                            """,
                        arguments: [
                            device.number, Data(DeviceToken.numbered(device.number).bytes), device.user,
                            device.installation,
                        ]
                    )
                }
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            try await body(store)
            try await store.close()
        }
    }

    private func devices(of user: String, _ store: SQLStore) async throws -> [Int64] {
        try await store.devices(app: 7, audience: .user(user), after: 0, limit: 9).map(\.id)
    }

    @Test func anErasureUnderWayGoesOnWithWhatWasThereAtItsRequest() async throws {
        try await self.run { store in
            try await store.register(2, app: 7) { $0.user = .set("alice") }
            let erasure = try #require(try await store.erasures().first)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await self.devices(of: "alice", store) == [2, 3])
            // A request after the migration has all devices from before it.
            let other = try await store.eraseUser("carol", app: 7, steady: self.now)
            try await store.register(5, app: 7) { $0.user = .set("carol") }
            while try await store.continueErasure(other, now: self.now) {}
            #expect(try await self.devices(of: "carol", store) == [5])
        }
    }

    /// The token of another kind gets the user from a device that was there at the request, or from one that was not.
    @Test func aDeviceThatJoinsAnInstallationGoesOrStaysWithIt() async throws {
        try await self.run { store in
            for (number, installation) in [(7, "tablet"), (8, "phone")] {
                try await store.register(number, app: 7) { ($0.installation, $0.kind) = (installation, .voip) }
            }
            #expect(try await self.devices(of: "alice", store) == [1, 3, 7, 8])
            let erasure = try #require(try await store.erasures().first)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await self.devices(of: "alice", store) == [3, 8])
        }
    }

    /// The device with the greatest id, from which an older one has the user, is gone before the request.
    @Test func aDeviceIsFoundWithoutTheOneFromWhichItHasTheUser() async throws {
        try await self.run { store in
            try await store.register(5, app: 7) { ($0.installation, $0.kind) = ("desk", .voip) }
            _ = try await store.deleteDevices(app: 7, token: .numbered(6), environment: nil, now: self.now)
            #expect(try await self.devices(of: "dora", store) == [5])
            let erasure = try await store.eraseUser("dora", app: 7, steady: self.now)
            while try await store.continueErasure(erasure, now: self.now) {}
            #expect(try await self.devices(of: "dora", store) == [])
        }
    }
}
