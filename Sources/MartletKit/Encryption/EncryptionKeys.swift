#if Encryption
import Crypto
public import Foundation

/// The keys of an installation, to which the provider encrypts content.
///
/// A key pair is made once and kept in the storage. After a change of the key, earlier ones still open what is on its way.
/// Give a storage that only this device can read: on Apple's systems the keychain, in the access group that the app shares
/// with its extension.
public struct EncryptionKeys: Sendable {
    /// The number of days for which a key opens content after another has taken its place.
    public static let daysKept = 30
    /// The largest number of keys, the current one included. More frequent changes drop the oldest.
    public static let maximumCount = 8

    private let value: SharedValue
    private let now: @Sendable () -> Date

    /// - Parameter storage: the storage that app and extension share.
    public init(storage: any MartletStorage) { self.init(storage: storage, now: { Date() }) }

    init(storage: any MartletStorage, now: @escaping @Sendable () -> Date) {
        self.value = SharedValue(storage: storage, prefix: "key-")
        self.now = now
    }

    /// Returns the key to register with the provider. The first call makes it, and each removes keys that open nothing any more.
    /// - Throws: ``DamageError``, or an error of the storage.
    public func current() throws -> EncryptionKey {
        try self.value.update { stored in
            var ring = try KeyRing(stored: stored)
            let isPruned = ring.prune(now: self.now())
            if let key = ring.current { return (isPruned ? try ring.stored : nil, key.encryptionKey) }
            let key = ring.rotate(now: self.now())
            return (try ring.stored, key.encryptionKey)
        }
    }

    /// Makes a new key and returns it. The provider uses it once it is registered.
    /// - Throws: An error of the storage.
    public func rotate() throws -> EncryptionKey {
        try self.value.update { stored in
            // A damaged ring opens nothing, so that a new one loses nothing.
            var ring = (try? KeyRing(stored: stored)) ?? KeyRing()
            let key = ring.rotate(now: self.now())
            return (try ring.stored, key.encryptionKey)
        }
    }

    /// Removes all keys, so that nothing opens what was encrypted to them. ``Martlet/unregister()`` does it for its own storage.
    /// - Throws: An error of the storage.
    public func removeAll() throws { try self.value.removeAll() }

    /// Returns the content of a notification.
    ///
    /// One that is not encrypted is returned as it is. If the content cannot be opened, the notification stays what it is,
    /// its placeholder, and the failure says why.
    /// - Parameter app: the bundle id under which the installation is registered, not that of the extension.
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

    /// The stored keys cannot be read. ``rotate()`` makes new ones.
    public struct DamageError: Error, Hashable, Sendable, CustomStringConvertible {
        public var description: String { "the stored keys are damaged: rotate() makes new ones" }
    }
}

/// A key of the installation, as the provider gets it.
public struct EncryptionKey: Hashable, Sendable {
    /// The name that encrypted content has for it.
    public let id: String
    /// The raw X25519 public key, 32 bytes.
    public let publicKey: Data
    /// The time at which it was made, for an app that changes its key now and then.
    public let created: Date
}

/// A notification after its content was opened.
public struct OpenedNotification: Hashable, Sendable {
    /// The content, or the placeholder.
    public let notification: ReceivedNotification
    /// The reason why it is the placeholder; `nil` if nothing failed.
    public let failure: OpeningError?
}

/// The reason why encrypted content cannot be shown.
public enum OpeningError: Error, Hashable, Sendable, CustomStringConvertible {
    /// `martlet.sealed` has not the form that it should, or there is no id of the notification.
    case malformed
    /// There is no such key, or no longer: the app was installed anew, or the content is older than 30 days.
    case unknownKey(id: String)
    /// The content was changed, or encrypted for another app, notification or key.
    case notAuthentic
    /// The decrypted text is no JSON object within the limits.
    case notAPayload
    /// The storage failed, or what it has is damaged.
    case keysUnreadable(String)

    /// A text for the log.
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
#endif
