import Foundation
import GRDB
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushStore

/// Migration 9, from a database that has no preferences.
@Suite(.timeLimit(.patience)) struct PreferencesMigrationTests {
    @Test func devicesAndNotificationsStayAndGetPreferences() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/provider.sqlite"
            let (id, queue) = (UUID(), try DatabaseQueue(path: path))
            try SQLiteSchema.migrator.migrate(queue, upTo: "6 announcements")
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO app (id, bundleID, createdAt, rate) VALUES (7, 'com.example.Old', 1, 5);
                        INSERT INTO lastApp VALUES (7);
                        """
                )
                try database.execute(
                    sql: """
                        INSERT INTO device (app, environment, token, isActive, createdAt, registeredAt, suspicions, user,
                            installation, capabilities)
                        VALUES (7, 1, ?, 1, 1, 1, 0, 'alice', 'phone', 4)
                        """,
                    arguments: [Data(DeviceToken.numbered(1).bytes)]
                )
                try database.execute(
                    sql: """
                        INSERT INTO notification (id, prefix, app, state, lane, guarantee, audience, topic, pushType,
                            priority, payload, isTemplate, createdAt, startsAt)
                        VALUES (?, 1, 7, 'accepted', 1, 'atLeastOnce', '{"all":true}', 'com.example.Old', 'alert', 10,
                            x'7b7d', 0, 1, 1)
                        """,
                    arguments: [id.uuidString]
                )
            }
            try queue.close()
            let store = try SQLStore(path: path, masterKey: try .fixture(1))
            let app = try #require(try await store.app(id: 7))
            #expect(app.rate == 5)
            #expect(app.cap == nil)
            #expect(app.installationTags == NamePatterns())
            let notification = try #require(try await store.notification(id))
            #expect(notification.consent == ConsentRules())
            #expect(notification.content.placeholder == nil)
            var device = try #require(try await store.devices(app: 7, token: .numbered(1)).first)
            #expect(device.profile.preferences == Preferences())
            #expect(device.profile.encryptionKey == nil)
            let preferences = Preferences(optOuts: ["news"], quietHours: QuietHours(stored: "22:00-07:00"))
            let key = InstallationPublicKey(id: "k", bytes: Array(1...32))
            try await store.register(1, app: 7) {
                ($0.preferences, $0.encryptionKey) = (.set(preferences), .set(key))
            }
            device = try #require(try await store.devices(app: 7, token: .numbered(1)).first)
            #expect(device.profile.user == "alice")
            #expect(device.profile.preferences == preferences)
            #expect(device.profile.encryptionKey == key)
            try await store.close()
        }
    }

    @Test(arguments: ["", "22:00", "22:00-22:00", "24:00-07:00", "22:00-07:00-08:00", "-"])
    func aDamagedTextIsNoQuietHours(text: String) {
        #expect(QuietHours(stored: text) == nil)
    }
}
