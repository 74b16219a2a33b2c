import Crypto
import Foundation
import Testing

@testable import MartletKit

@Suite("Encryption keys") struct EncryptionKeysTests {
    private static let app = "com.example.app"
    private let notification = UUID()
    private let payload =
        #"{"aps":{"alert":{"title":"Your order","body":"is on its way"}},"class":"Order","property":42}"#

    /// Returns the payload that a provider sends, encrypted to a key.
    private func encrypted(
        _ payload: String,
        to key: EncryptionKey,
        app: String = Self.app,
        id: String? = nil,
        change: (inout Data) -> Void = { _ in }
    ) throws -> ReceivedNotification {
        var sender = try HPKE.Sender(
            recipientKey: Curve25519.KeyAgreement.PublicKey(rawRepresentation: key.publicKey),
            ciphersuite: .Curve25519_SHA256_ChachaPoly,
            info: Data("martlet push 1".utf8)
        )
        let authenticated = Data("\(app)\n\(self.notification.uuidString)".utf8)
        var sealed = sender.encapsulatedKey + (try sender.seal(Data(payload.utf8), authenticating: authenticated))
        change(&sealed)
        return try self.received(
            #"{"key":"\#(id ?? key.id)","data":"\#(sealed.base64EncodedString())"}"#,
            id: self.notification.uuidString
        )
    }

    private func received(_ sealed: String, id: String) throws -> ReceivedNotification {
        let text = """
            {"aps":{"alert":{"title":"New message"},"mutable-content":1},
             "martlet":{"id":"\(id)","receipts":"device","sealed":\(sealed)}}
            """
        return try #require(ReceivedNotification(json: Data(text.utf8)))
    }

    @Test("The key is made once, and is the same for app and extension")
    func once() throws {
        let storage = MemoryStorage()
        let key = try EncryptionKeys(storage: storage).current()
        #expect(try EncryptionKeys(storage: storage).current() == key)
        #expect(key.publicKey.count == 32)
        #expect((1...64).contains(key.id.utf8.count))
        #expect(try EncryptionKeys(storage: MemoryStorage()).current() != key)
    }

    @Test("Two processes that start together make one key")
    func together() async throws {
        let storage = MemoryStorage()
        let keys = try await withThrowingTaskGroup(of: EncryptionKey.self) { group in
            for _ in 0..<8 { group.addTask { try EncryptionKeys(storage: storage).current() } }
            return try await group.reduce(into: Set<EncryptionKey>()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
    }

    @Test("Content takes the place of the placeholder, and receipts stay those of the notification")
    func opening() throws {
        let keys = EncryptionKeys(storage: MemoryStorage())
        let received = try self.encrypted(self.payload, to: try keys.current())
        #expect(received.title == "New message")
        let opened = keys.open(received, app: Self.app)
        #expect(opened.failure == nil)
        #expect(opened.notification.title == "Your order")
        #expect(opened.notification.body == "is on its way")
        #expect(opened.notification.data["class"] == "Order")
        #expect(opened.notification.id == self.notification)
        #expect(opened.notification.receipts == .device)
        #expect(keys.open(opened.notification, app: Self.app) == opened)
    }

    @Test("Encrypted content cannot speak for another notification")
    func innerIdentifier() throws {
        let keys = EncryptionKeys(storage: MemoryStorage())
        let inner = #"{"aps":{"alert":"x"},"martlet":{"id":"\#(UUID().uuidString)","receipts":"none","sealed":{}}}"#
        let opened = keys.open(try self.encrypted(inner, to: try keys.current()), app: Self.app)
        #expect(opened.failure == nil)
        #expect(opened.notification.id == self.notification)
        #expect(opened.notification.receipts == .device)
        #expect(opened.notification.data.isEmpty)
    }

    @Test("Content that was changed, or encrypted for another app, notification or key, shows the placeholder")
    func notAuthentic() throws {
        let keys = EncryptionKeys(storage: MemoryStorage())
        let key = try keys.current()
        let other = try EncryptionKeys(storage: MemoryStorage()).current()
        let hostile = [
            try self.encrypted(self.payload, to: key, app: "com.example.other"),
            try self.encrypted(self.payload, to: other, id: key.id),
            try self.encrypted(self.payload, to: key) { $0[0] ^= 1 },
            try self.encrypted(self.payload, to: key) { $0[40] ^= 1 },
            try self.encrypted(self.payload, to: key) { $0.removeLast() },
            try self.encrypted(self.payload, to: key) { $0 = $0.prefix(33) },
            try self.encrypted(self.payload, to: key) { $0 = Data(count: 100) },
            try self.encrypted(self.payload, to: key) { $0.append(0) },
        ]
        for received in hostile {
            let opened = keys.open(received, app: Self.app)
            #expect(opened.failure == .notAuthentic)
            #expect(opened.notification == received)
        }
        var replayed = try self.encrypted(self.payload, to: key)
        guard case .encrypted(_, let data)? = replayed.sealed else { return #expect(Bool(false)) }
        replayed = try self.received(
            #"{"key":"\#(key.id)","data":"\#(data.base64EncodedString())"}"#,
            id: UUID().uuidString
        )
        #expect(keys.open(replayed, app: Self.app).failure == .notAuthentic)
    }

    @Test(
        "A malformed member shows the placeholder and says so",
        arguments: [
            "7", "[]", "{}", "null", #"{"key":"a"}"#, #"{"key":"a","data":""}"#, #"{"key":"a","data":"%%"}"#,
            #"{"key":"","data":"AAAA"}"#, #"{"key":7,"data":"AAAA"}"#, #"{"key":"a","data":"AAAA"}"#,
        ]
    )
    func malformed(sealed: String) throws {
        let received = try self.received(sealed, id: self.notification.uuidString)
        let opened = EncryptionKeys(storage: MemoryStorage()).open(received, app: Self.app)
        #expect(opened.failure == .malformed)
        #expect(opened.notification.title == "New message")
    }

    @Test("Content without a notification's id is malformed, one without encryption is left alone")
    func others() throws {
        let keys = EncryptionKeys(storage: MemoryStorage())
        let data = Data(count: 60).base64EncodedString()
        #expect(
            keys.open(try self.received(#"{"key":"a","data":"\#(data)"}"#, id: "x"), app: Self.app).failure
                == .malformed
        )
        let plain = try #require(ReceivedNotification(json: Data(#"{"aps":{"alert":"x"}}"#.utf8)))
        #expect(keys.open(plain, app: Self.app) == OpenedNotification(notification: plain, failure: nil))
    }

    @Test("A decrypted text that is no payload shows the placeholder", arguments: ["", "7", "[]", "{", "\u{0}"])
    func notAPayload(text: String) throws {
        let keys = EncryptionKeys(storage: MemoryStorage())
        let received = try self.encrypted(text, to: try keys.current())
        #expect(keys.open(received, app: Self.app).failure == .notAPayload)
    }

    @Test("Replaced keys open content for 30 days, and not longer")
    func rotation() throws {
        let clock = TestClock()
        let keys = EncryptionKeys(storage: MemoryStorage(), now: { clock.now })
        let first = try keys.current()
        let received = try self.encrypted(self.payload, to: first)
        clock.advance(days: 200)
        let second = try keys.rotate()
        #expect(second.id != first.id)
        #expect(second.created == clock.now)
        #expect(try keys.current() == second)
        clock.advance(days: 29.9)
        #expect(keys.open(received, app: Self.app).failure == nil)
        clock.advance(days: 0.2)
        #expect(keys.open(received, app: Self.app).failure == .unknownKey(id: first.id))
        #expect(keys.open(try self.encrypted(self.payload, to: second), app: Self.app).failure == nil)
    }

    @Test("A private key that opens nothing any more is in no file, and leaving removes all")
    func disposal() async throws {
        let (clock, storage) = (TestClock(), MemoryStorage())
        let keys = EncryptionKeys(storage: storage, now: { clock.now })
        let first = try keys.current()
        _ = try keys.rotate()
        func holds(_ key: EncryptionKey) -> Bool {
            storage.all.values.contains { String(decoding: $0, as: UTF8.self).contains(key.id) }
        }
        #expect(holds(first))
        clock.advance(days: 31)
        _ = try keys.current()
        #expect(!holds(first))
        let app = try TestApp(storage: storage)
        try await app.martlet.unregister()
        #expect(storage.all.keys.sorted() == ["state"])
    }

    @Test("The number of keys is bounded, and the newest stay")
    func bounded() throws {
        let storage = MemoryStorage()
        let keys = EncryptionKeys(storage: storage)
        let made = try (0..<20).map { _ in try keys.rotate() }
        let opening = try made.map { keys.open(try self.encrypted(self.payload, to: $0), app: Self.app).failure == nil }
        #expect(opening == (0..<20).map { $0 >= 20 - EncryptionKeys.maximumCount })
        let longest = try storage.names().map { try storage.read($0)?.count ?? 0 }.max() ?? 0
        #expect(longest < 4096)
    }

    @Test("Damaged keys are reported, nothing is thrown away unasked, and new ones can be made")
    func damage() throws {
        for damaged in ["", "{}", "[]", #"{"keys":[]}"#, #"{"keys":[{"id":"a","private":"AAAA","created":0}]}"#] {
            let storage = MemoryStorage(["key-1": Data(damaged.utf8)])
            let keys = EncryptionKeys(storage: storage)
            #expect(throws: EncryptionKeys.DamageError.self) { try keys.current() }
            let received = try self.encrypted(self.payload, to: try EncryptionKeys(storage: MemoryStorage()).current())
            guard case .keysUnreadable = keys.open(received, app: Self.app).failure else {
                Issue.record("\(damaged)")
                continue
            }
            #expect(try keys.rotate() == keys.current())
        }
    }

    @Test("A storage that fails shows the placeholder and says why")
    func failingStorage() throws {
        let storage = MemoryStorage()
        let keys = EncryptionKeys(storage: storage)
        let received = try self.encrypted(self.payload, to: try keys.current())
        storage.fail()
        let opened = keys.open(received, app: Self.app)
        #expect(opened.notification == received)
        #expect(opened.failure?.description.contains("cannot be read") == true)
        #expect(throws: MemoryStorage.Failure.self) { try keys.current() }
    }
}

/// A clock that a test sets. It is unchecked because a lock guards the time.
private final class TestClock: @unchecked Sendable {
    private let lock = NSLock()
    private var time = Date(timeIntervalSince1970: 1_800_000_000)

    var now: Date { self.lock.withLock { self.time } }

    func advance(days: Double) { self.lock.withLock { self.time += days * 86400 } }
}
