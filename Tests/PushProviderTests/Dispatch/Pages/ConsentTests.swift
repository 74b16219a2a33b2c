import Crypto
import Foundation
import NIOCore
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Recipients that do not want a notification, or not now. It is 22:13:20 UTC.
@Suite(.timeLimit(.patience)) struct ConsentTests {
    private static let night = QuietHours(stored: "22:00-07:00")

    /// Returns the reasons of the skipped recipients by the numbers of their tokens.
    private static func skipped(
        _ notification: NotificationRecord,
        _ fixture: DispatchFixture,
        of numbers: ClosedRange<Int>
    ) async throws -> [Int: String] {
        var reasons: [Int: String] = [:]
        let deliveries = try await fixture.deliveries(of: notification)
        for number in numbers {
            let delivery = deliveries.first { $0.token == .numbered(number) }
            if delivery?.state == .skipped { reasons[number] = delivery?.reason ?? "none" }
        }
        return reasons
    }

    @Test(arguments: StoreBackend.available, [NotificationRecord.Guarantee.atLeastOnce, .atMostOnce])
    func anOptOutOfTheDeviceOrTheUserCounts(
        backend: StoreBackend,
        guarantee: NotificationRecord.Guarantee
    ) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            try await fixture.register(1...1) { $0.preferences = .set(Preferences(optOuts: ["marketing", "news"])) }
            try await fixture.register(2...2) { $0.user = .set("alice") }
            try await fixture.register(3...3) { $0.preferences = .set(Preferences(optOuts: ["marketing2", "market"])) }
            try await fixture.register(4...4) { $0.user = .set("bob") }
            let preferences = Preferences(optOuts: ["marketing"])
            try await fixture.store.setPreferences(preferences, app: fixture.app, user: "alice")
            let guarantee: JSONValue = .string(guarantee.rawValue)
            let marketing = try await fixture.accept(["consentCategory": "marketing", "guarantee": guarantee])
            try await fixture.settle()
            try await fixture.store.expect(marketing, .done, accepted: 2, skipped: 2)
            let text = "opted out of marketing"
            #expect(try await Self.skipped(marketing, fixture, of: 1...4) == [1: text, 2: text])
            // Without a category everybody gets it.
            let plain = try await fixture.accept(["guarantee": guarantee])
            try await fixture.settle()
            try await fixture.store.expect(plain, .done, accepted: 4)
            // What the user takes back counts at once.
            try await fixture.store.setPreferences(Preferences(), app: fixture.app, user: "alice")
            let again = try await fixture.accept(["consentCategory": "marketing", "to": ["user": "alice"]])
            try await fixture.settle()
            try await fixture.store.expect(again, .done, accepted: 1)
        }
    }

    @Test(arguments: StoreBackend.available)
    func quietHoursAreOnTheClockOfEachDevice(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            for (number, zone) in [(1, "Europe/Berlin"), (2, "America/New_York"), (3, nil)] as [(Int, String?)] {
                try await fixture.register(number...number) {
                    $0.timeZone = zone.map { .set($0) }
                    $0.preferences = .set(Preferences(quietHours: Self.night))
                }
            }
            // The user's hours come before the device's, which has none in the first case and is quiet in the second.
            try await fixture.register(4...4) { ($0.user, $0.timeZone) = (.set("alice"), .set("Europe/Berlin")) }
            try await fixture.register(5...5) {
                ($0.user, $0.timeZone) = (.set("bob"), .set("Europe/Berlin"))
                $0.preferences = .set(Preferences(quietHours: Self.night))
            }
            let noon = Preferences(quietHours: QuietHours(stored: "12:00-13:00"))
            try await fixture.store.setPreferences(Preferences(quietHours: Self.night), app: fixture.app, user: "alice")
            try await fixture.store.setPreferences(noon, app: fixture.app, user: "bob")
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            let text = "quiet hours of the user"
            #expect(try await Self.skipped(notification, fixture, of: 1...5) == [1: text, 3: text, 4: text])
            try await fixture.store.expect(notification, .done, accepted: 2, skipped: 3)
            for exempt in [["urgent": true], ["quietHours": "ignore"]] as [[String: JSONValue]] {
                let notification = try await fixture.accept(exempt)
                try await fixture.settle()
                try await fixture.store.expect(notification, .done, accepted: 5)
            }
            // What nobody sees disturbs nobody.
            let background = try await fixture.accept(["alert": .null, "contentAvailable": true])
            try await fixture.settle()
            try await fixture.store.expect(background, .done, accepted: 5)
            let strict = try await fixture.accept(["urgent": true, "quietHours": "skip"])
            try await fixture.settle()
            try await fixture.store.expect(strict, .done, accepted: 2, skipped: 3)
        }
    }

    @Test(
        arguments: [
            // In Berlin the clocks go from 2:00 to 3:00 on 2024-03-31 at 01:00 UTC, and back from 3:00 on 2024-10-27.
            ("2024-03-31T00:59:59Z", "02:00-03:30", false), ("2024-03-31T01:00:00Z", "02:00-03:30", true),
            ("2024-03-31T01:30:00Z", "02:00-03:30", false), ("2024-10-27T00:30:00Z", "02:00-03:00", true),
            ("2024-10-27T01:30:00Z", "02:00-03:00", true), ("2024-10-27T02:00:00Z", "02:00-03:00", false),
            // Across midnight.
            ("2024-07-01T19:59:59Z", "22:00-07:00", false), ("2024-07-01T20:00:00Z", "22:00-07:00", true),
            ("2024-07-01T22:00:00Z", "22:00-07:00", true), ("2024-07-02T04:59:59Z", "22:00-07:00", true),
            ("2024-07-02T05:00:00Z", "22:00-07:00", false),
        ]
    )
    func quietHoursFollowTheClock(time: String, hours: String, isQuiet: Bool) throws {
        let now = try #require(Timestamp(rfc3339: time))
        var decision = ConsentDecision(at: now)
        let consent = RecipientConsent(quietHours: QuietHours(stored: hours))
        let reason = decision.reason(consent, timeZone: "Europe/Berlin")
        #expect(reason == (isQuiet ? .quietHours : nil))
    }

    @Test(arguments: StoreBackend.available)
    func aDeviceThatAllowsNoAlertsGetsNone(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            try await fixture.register(1...1) { $0.capabilities = [.badge, .background] }
            try await fixture.register(2...2) { $0.capabilities = [.alert] }
            // Nothing is known of old devices.
            try await fixture.register(3...3)
            let notification = try await fixture.accept([:])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 2, skipped: 1)
            #expect(
                try await Self.skipped(notification, fixture, of: 1...3) == [1: "the device allows no alerts"]
            )
            let background = try await fixture.accept(["alert": .null, "contentAvailable": true])
            try await fixture.settle()
            try await fixture.store.expect(background, .done, accepted: 3)
        }
    }

    /// Opens what a device with this key gets.
    private static func open(
        _ push: ScriptedSender.Sent,
        _ key: Curve25519.KeyAgreement.PrivateKey
    ) throws -> (id: String, payload: JSONValue) {
        let payload = try JSONValue(parsing: Data(push.notification.payload.readableBytesView))
        let martlet = payload["martlet"]
        let sealed = try #require(Data(base64Encoded: martlet["sealed"]["data"].stringValue ?? ""))
        var recipient = try HPKE.Recipient(
            privateKey: key,
            ciphersuite: .Curve25519_SHA256_ChachaPoly,
            info: Data("martlet push 1".utf8),
            encapsulatedKey: sealed.prefix(32)
        )
        let aad = Data("\(Vectors.bundleID)\n\(martlet["id"].stringValue ?? "")".utf8)
        let plain = try recipient.open(Data(sealed.dropFirst(32)), authenticating: aad)
        return (martlet["sealed"]["key"].stringValue ?? "", try JSONValue(parsing: plain))
    }

    @Test(arguments: StoreBackend.available)
    func encryptedContentIsForTheNewestKeyOnly(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend, page: 2) { fixture in
            let (old, key) = (Curve25519.KeyAgreement.PrivateKey(), Curve25519.KeyAgreement.PrivateKey())
            for (id, key) in [("k1", old), ("k2", key)] {
                let bytes = Array(key.publicKey.rawRepresentation)
                try await fixture.register(1...1) {
                    $0.encryptionKey = .set(InstallationPublicKey(id: id, bytes: bytes))
                    ($0.user, $0.locale) = (.set("alice"), .set("de"))
                }
            }
            try await fixture.register(2...2)
            let notification = try await fixture.accept([
                "encrypted": true, "template": true, "alert": "Hello {{user}}", "data": ["order": 42],
                "localizations": ["de": ["alert": "Hallo {{user}}"]], "placeholder": ["title": "You have a message"],
            ])
            let named: JSONValue = ["tokens": [.string(DeviceToken.numbered(9).hex)]]
            let unregistered = try await fixture.accept(["encrypted": true, "to": named, "environment": "sandbox"])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 1, skipped: 1)
            #expect(try await Self.skipped(notification, fixture, of: 1...2) == [2: "no encryption key"])
            try await fixture.store.expect(unregistered, .done, skipped: 1)
            let push = try #require(fixture.sender.sent.first)
            #expect(fixture.sender.sent.count == 1)
            let text = String(decoding: Array(push.notification.payload.readableBytesView), as: UTF8.self)
            #expect(!text.contains("alice") && !text.contains("Hallo") && !text.contains("order"))
            let payload = try JSONValue(parsing: Data(text.utf8))
            #expect(payload["aps"] == ["alert": ["title": "You have a message"], "mutable-content": 1])
            #expect(payload["martlet"]["id"] == .string(notification.id.uuidString))
            let opened = try Self.open(push, key)
            #expect(opened.id == "k2")
            #expect(opened.payload == ["aps": ["alert": "Hallo alice"], "order": 42])
            #expect(throws: (any Error).self) { try Self.open(push, old) }
        }
    }

    /// Keys that no registration accepts, as a damaged database may have them: nothing is sent in the clear.
    @Test(arguments: StoreBackend.available, [0, 31, 32, 33])
    func aDamagedKeyGetsNothing(backend: StoreBackend, length: Int) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let bytes = [UInt8](repeating: 0xff, count: length)
            try await fixture.register(1...1) { $0.encryptionKey = .set(InstallationPublicKey(id: "k", bytes: bytes)) }
            let notification = try await fixture.accept(["encrypted": true, "alert": "secret"])
            try await fixture.settle()
            #expect(try await fixture.progress(of: notification).state == .done)
            for push in fixture.sender.sent {
                let text = String(decoding: Array(push.notification.payload.readableBytesView), as: UTF8.self)
                #expect(!text.contains("secret"))
            }
        }
    }

    @Test(
        arguments: [
            (["placeholder": ["title": "x"]], "placeholder"), (["encrypted": 1], "encrypted"),
            (["encrypted": true, "placeholder": ["text": "x"]], "placeholder.text"),
            (["encrypted": true, "pushType": "background", "alert": .null, "contentAvailable": true], "encrypted"),
            (["encrypted": true, "data": ["text": .string(String(repeating: "x", count: 3000))]], "payload"),
            (["consentCategory": ""], "consentCategory"), (["consentCategory": "a\nb"], "consentCategory"),
            (["quietHours": "never"], "quietHours"),
        ] as [([String: JSONValue], String)]
    )
    func aRequestThatIsNotUnderstoodIsRefused(members: [String: JSONValue], field: String) async throws {
        try await DispatchFixture.run(StoreBackend.available[0]) { fixture in
            let error = await #expect(throws: RequestError.self) { try await fixture.accept(members) }
            #expect(error?.path == field || field == "payload")
        }
    }

    /// The largest content that is accepted fits, with a key of the longest name.
    @Test(arguments: StoreBackend.available)
    func theSizeIsKnownBeforeAcceptance(backend: StoreBackend) async throws {
        try await DispatchFixture.run(backend) { fixture in
            let key = Curve25519.KeyAgreement.PrivateKey()
            let id = String(repeating: "k", count: InstallationPublicKey.maximumID)
            try await fixture.register(1...1) {
                $0.encryptionKey = .set(InstallationPublicKey(id: id, bytes: Array(key.publicKey.rawRepresentation)))
            }
            var (low, high) = (1, 4096)
            while low < high {
                let middle = (low + high + 1) / 2
                let members: [String: JSONValue] = [
                    "encrypted": true, "alert": .string(String(repeating: "x", count: middle)),
                    "to": ["user": "nobody"],
                ]
                if (try? await fixture.accept(members)) != nil { low = middle } else { high = middle - 1 }
            }
            #expect((2000...3000).contains(low))
            let alert: JSONValue = .string(String(repeating: "x", count: low))
            let notification = try await fixture.accept(["encrypted": true, "alert": alert])
            try await fixture.settle()
            try await fixture.store.expect(notification, .done, accepted: 1)
            let size = try #require(fixture.sender.sent.last).notification.payload.readableBytes
            #expect((4093...4096).contains(size))
        }
    }
}
