#if Encryption
import Crypto
public import Foundation

/// The keys of an installation, to which the provider encrypts content.
///
/// A key pair is generated once and stored. After a rotation, earlier keys still decrypt content that is in transit.
/// Use a storage that only this device can read. On Apple's systems, this is the keychain, in the access group that the
/// app shares with its extension.
public struct EncryptionKeys: Sendable {
    /// The number of days for which a replaced key still decrypts content.
    public static let daysKept = 30
    /// The maximum number of keys, including the current one. A further rotation drops the oldest key.
    public static let maximumCount = 8

    private let value: SharedValue
    private let now: @Sendable () -> Date

    /// Creates access to the keys in a storage.
    /// - Parameter storage: The storage that the app and its extension share.
    public init(storage: any MartletStorage) { self.init(storage: storage, now: { Date() }) }

    init(storage: any MartletStorage, now: @escaping @Sendable () -> Date) {
        self.value = SharedValue(storage: storage, prefix: "key-")
        self.now = now
    }

    /// Returns the key to register with the provider. The first call generates it, and each call removes expired keys.
    /// - Throws: ``DamageError`` if the stored keys cannot be decoded, or an error of the storage.
    public func current() throws -> EncryptionKey {
        try self.value.update { stored in
            var ring = try KeyRing(stored: stored)
            let isPruned = ring.prune(now: self.now())
            if let key = ring.current { return (isPruned ? try ring.stored : nil, key.encryptionKey) }
            let key = ring.rotate(now: self.now())
            return (try ring.stored, key.encryptionKey)
        }
    }

    /// Generates a new current key and returns it. The provider encrypts to the key once the app has registered it
    /// (`setEncryptionKey`).
    /// - Throws: An error of the storage.
    public func rotate() throws -> EncryptionKey {
        try self.value.update { stored in
            // A damaged ring opens nothing, so nothing is lost with it.
            var ring = (try? KeyRing(stored: stored)) ?? KeyRing()
            let key = ring.rotate(now: self.now())
            return (try ring.stored, key.encryptionKey)
        }
    }

    /// Removes all keys, so that content encrypted to them can no longer be decrypted. ``Martlet/unregister()`` also
    /// removes the keys in the storage of ``Martlet``.
    /// - Throws: An error of the storage.
    public func removeAll() throws { try self.value.removeAll() }

    /// Decrypts the content of a notification.
    ///
    /// A notification that is not encrypted is returned unchanged. If the content cannot be decrypted, the placeholder
    /// is returned with the failure.
    /// - Parameter app: The bundle id under which the installation is registered, which is not that of the extension.
    public func open(_ notification: ReceivedNotification, app: String) -> OpenedNotification {
        guard let sealed = notification.sealed else {
            return OpenedNotification(notification: notification, failure: nil)
        }
        do throws(OpeningError) {
            let payload = try self.payload(of: sealed, in: notification, app: app)
            return OpenedNotification(notification: notification.opened(payload), failure: nil)
        } catch {
            return OpenedNotification(notification: notification, failure: error)
        }
    }

    private func payload(
        of sealed: SealedContent,
        in notification: ReceivedNotification,
        app: String
    ) throws(OpeningError) -> [String: JSONValue] {
        guard case .encrypted(let id, let data) = sealed, let notification = notification.id else { throw .malformed }
        let ring: KeyRing
        do { ring = try KeyRing(stored: try self.value.read()) } catch { throw .keysUnreadable("\(error)".forLog) }
        guard let key = ring.key(id, now: self.now()) else { throw .unknownKey(id: id.forLog) }
        let authenticated = ContentEncryption.authenticatedData(app: app, notification: notification)
        guard let text = try? ContentEncryption.open(data, with: key, authenticating: authenticated) else {
            throw .notAuthentic
        }
        guard case .object(let payload)? = JSONValue(payload: text) else { throw .notAPayload }
        return payload
    }

    /// The error for stored keys that cannot be decoded. ``rotate()`` generates a new key.
    public struct DamageError: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String { "the stored keys are damaged: rotate() makes new ones" }
    }
}

/// A public key of the installation, as it is registered with the provider.
public struct EncryptionKey: Hashable, Sendable {
    /// The id by which encrypted content identifies the key.
    public let id: String
    /// The raw X25519 public key, which has 32 bytes.
    public let publicKey: Data
    /// The time at which the key was generated, by which an app can decide to rotate it.
    public let created: Date
}

/// A notification after the attempt to decrypt its content.
public struct OpenedNotification: Hashable, Sendable {
    /// The notification with the decrypted content, or the placeholder.
    public let notification: ReceivedNotification
    /// The reason why ``notification`` is the placeholder, or `nil` if nothing failed.
    public let failure: OpeningError?
}

/// The reason why encrypted content cannot be shown.
public enum OpeningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The content cannot be decrypted because `martlet.sealed` is malformed or the notification has no id.
    case malformed
    /// The content cannot be decrypted: the installation no longer has the key with this id, because the app was
    /// reinstalled or the key was replaced more than 30 days ago.
    case unknownKey(id: String)
    /// The content cannot be decrypted because it was changed, or encrypted for another app, notification or key.
    case notAuthentic
    /// The content was decrypted, but is not a JSON object within the limits of payloads.
    case notAPayload
    /// The content cannot be decrypted because the storage failed or the stored keys are damaged. The value describes
    /// the error.
    case keysUnreadable(String)

    /// A description of the reason, for the log.
    public var description: String {
        switch self {
        case .malformed: "the encrypted content is malformed"
        case .unknownKey(let id): "this installation has no key \(id)"
        case .notAuthentic: "the encrypted content is not authentic"
        case .notAPayload: "the decrypted content is no payload"
        case .keysUnreadable(let error): "the keys cannot be read: \(error)"
        }
    }
}

/// The stored keys of an installation, the current one last.
private struct KeyRing: Codable {
    struct Key: Codable {
        var id: String
        var privateKey: Data
        var created: Date
        /// The time at which another key replaced this one, or `nil` for the current key.
        var replaced: Date?

        private enum CodingKeys: String, CodingKey {
            case id, created, replaced
            case privateKey = "private"
        }
    }

    private static let timeKept = Double(EncryptionKeys.daysKept) * 86400

    private var keys: [Key] = []

    init() {}

    /// Decodes the stored keys, or creates an empty key ring for `nil`.
    /// - Throws: ``EncryptionKeys/DamageError`` for other data.
    init(stored: Data?) throws(EncryptionKeys.DamageError) {
        guard let stored else { return }
        guard let ring = try? JSONDecoder().decode(KeyRing.self, from: stored), let last = ring.keys.last,
            last.replaced == nil, ring.keys.count <= EncryptionKeys.maximumCount,
            ring.keys.allSatisfy({ $0.curveKey != nil })
        else { throw EncryptionKeys.DamageError() }
        self = ring
    }

    var stored: Data { get throws { try JSONEncoder().encode(self) } }

    var current: Key? { self.keys.last }

    /// Returns the private key with an id, or `nil` if the key is not stored or was replaced more than 30 days ago.
    func key(_ id: String, now: Date) -> Curve25519.KeyAgreement.PrivateKey? {
        self.keys.last { $0.id == id && Self.isKept($0, now: now) }?.curveKey
    }

    /// Generates and returns a new current key, and drops keys that were replaced too long ago or exceed the maximum
    /// number.
    mutating func rotate(now: Date) -> Key {
        let key = Key(
            id: UUID().uuidString,
            privateKey: Curve25519.KeyAgreement.PrivateKey().rawRepresentation,
            created: now
        )
        let others = self.keys.map { key in
            var key = key
            key.replaced = key.replaced ?? now
            return key
        }
        self.keys = others.filter { Self.isKept($0, now: now) }.suffix(EncryptionKeys.maximumCount - 1) + [key]
        return key
    }

    /// Drops the keys that were replaced too long ago, and returns whether there were any.
    mutating func prune(now: Date) -> Bool {
        let count = self.keys.count
        self.keys.removeAll { !Self.isKept($0, now: now) }
        return self.keys.count < count
    }

    private static func isKept(_ key: Key, now: Date) -> Bool {
        guard let replaced = key.replaced else { return true }
        return now.timeIntervalSince(replaced) < self.timeKept
    }
}

extension KeyRing.Key {
    fileprivate var curveKey: Curve25519.KeyAgreement.PrivateKey? {
        try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: self.privateKey)
    }

    var encryptionKey: EncryptionKey {
        EncryptionKey(
            id: self.id,
            publicKey: self.curveKey?.publicKey.rawRepresentation ?? Data(),
            created: self.created
        )
    }
}

/// The format of encrypted content: HPKE in base mode (RFC 9180) with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
/// ChaCha20-Poly1305. Each message has a different encapsulated key.
enum ContentEncryption {
    static let ciphersuite = HPKE.Ciphersuite.Curve25519_SHA256_ChachaPoly
    static let info = Data("martlet push 1".utf8)
    static let encapsulatedKeyLength = 32

    /// Returns the additional authenticated data, which binds a ciphertext to the app and the notification.
    static func authenticatedData(app: String, notification: UUID) -> Data {
        Data("\(app)\n\(notification.uuidString)".utf8)
    }

    /// Decrypts data that consists of an encapsulated key and the ciphertext.
    /// - Throws: An error if the ciphertext is not authentic, or was not encrypted to this key.
    static func open(
        _ sealed: Data,
        with key: Curve25519.KeyAgreement.PrivateKey,
        info: Data = Self.info,
        authenticating authenticated: Data
    ) throws -> Data {
        var recipient = try HPKE.Recipient(
            privateKey: key,
            ciphersuite: self.ciphersuite,
            info: info,
            encapsulatedKey: Data(sealed.prefix(self.encapsulatedKeyLength))
        )
        return try recipient.open(sealed.dropFirst(self.encapsulatedKeyLength), authenticating: authenticated)
    }
}
#endif
