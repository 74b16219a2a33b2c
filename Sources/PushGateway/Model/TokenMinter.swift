import Crypto
import Foundation
import PushTypes
import PushWire
import Synchronization

/// Mints and opens device tokens, which name an app on a device, and base tokens, which name the device alone. A token
/// is the encrypted identity (AES-GCM) that it stands for, so that it needs no look-up and reveals nothing to other
/// parties.
///
/// Of several token keys the newest encrypts new tokens, and every key opens those that it encrypted, so that a token
/// from before a rotation is valid until its device has fetched a new one.
///
/// Layout: key id (1) ‖ nonce (12) ‖ sealed (kind, environment, generation, device id, topic hash, padding) ‖ tag (16).
/// The nonce is an HMAC of the plain text, so that the same identity has the same token and no nonce is used for two
/// different texts. Zero to fifteen bytes of padding, also from the HMAC, make the lengths vary, as Apple's do
/// (reference 1.7). Tokens have 71 to 86 bytes, and base tokens 46 to 61, so that neither has the 20 bytes of a topic
/// hash.
///
/// Tokens of 32 bytes, for apps whose providers accept no others, are an HMAC over the same text. They contain no
/// identity and are looked up in the ``DeviceRegistry`` (docs/decisions/0016).
final class TokenMinter: Sendable {
    struct Claims: Hashable, Sendable {
        var device: UUID
        var topic: TopicHash
        var environment: PushEnvironment
        /// The generation of the token, which rises with each new token of the app on the device.
        var generation: UInt32
    }

    /// The length of a token key, in bytes.
    static let keyLength = 32
    /// The length of a token that contains no identity and is looked up, in bytes.
    static let shortLength = 32
    /// The maximum number of keys, including retired ones, because the key id is one byte. No further key can be added.
    static let maximumKeys = 255
    private static let headerLength = 1 + 12
    private static let tagLength = 16

    private enum Kind: UInt8 {
        case base = 0
        case app = 1
    }

    private struct Key {
        var sealing: SymmetricKey
        var nonce: SymmetricKey
        var short: SymmetricKey

        init(_ bytes: [UInt8]) {
            let root = SymmetricKey(data: bytes)
            self.sealing = Self.derive(root, "martlet token seal")
            self.nonce = Self.derive(root, "martlet token nonce")
            self.short = Self.derive(root, "martlet token of 32 bytes")
        }

        private static func derive(_ root: SymmetricKey, _ use: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: root, info: Data(use.utf8), outputByteCount: 32)
        }
    }

    /// The keys in the order of their ids, which start with 1.
    private let keys: Mutex<[Key]>

    /// Creates a minter.
    /// - Parameter keys: The token keys of 32 random bytes, oldest first. A key is kept while its tokens are valid.
    init(keys: [[UInt8]]) { self.keys = Mutex(keys.prefix(Self.maximumKeys).map(Key.init)) }

    var currentKeyID: UInt8 { UInt8(clamping: self.keys.withLock { $0.count }) }

    /// Adds a key, which encrypts new tokens from now on.
    /// - Returns: `false` if there are ``maximumKeys`` already.
    func rotate(to key: [UInt8]) -> Bool {
        self.keys.withLock { keys in
            guard keys.count < Self.maximumKeys else { return false }
            keys.append(Key(key))
            return true
        }
    }

    private func key(_ id: UInt8) -> Key? {
        self.keys.withLock { id > 0 && Int(id) <= $0.count ? $0[Int(id) - 1] : nil }
    }

    /// Returns the encrypted device token of an identity, or `nil` if there is no key. The same identity and key give
    /// the same token.
    /// - Parameter keyID: The id of the key that encrypts the token. The current key is used if this id does not exist.
    func deviceToken(_ claims: Claims, keyID: UInt8) throws -> DeviceToken? {
        try self.seal(Self.text(claims), keyID: keyID).flatMap(DeviceToken.init(bytes:))
    }

    /// Returns the ``shortLength``-byte token of an identity, or `nil` if there is no key. The same identity and key
    /// give the same token.
    /// - Parameter keyID: The id of the key for its HMAC. The current key is used if this id does not exist.
    func shortToken(_ claims: Claims, keyID: UInt8) -> DeviceToken? {
        guard let key = self.key(keyID) ?? self.key(self.currentKeyID) else { return nil }
        return DeviceToken(bytes: Array(HMAC<SHA256>.authenticationCode(for: Self.text(claims), using: key.short)))
    }

    private static func text(_ claims: Claims) -> [UInt8] {
        let generation = withUnsafeBytes(of: claims.generation.bigEndian, Array.init)
        let text = [Kind.app.rawValue, claims.environment.code] + generation + Self.bytes(claims.device)
        return text + claims.topic.bytes
    }

    /// Returns the base token, which identifies the device itself (device link reference 5), or `nil` if there is no
    /// key.
    /// - Parameter epoch: The number of times that the device's system was reinstalled.
    func baseToken(for device: UUID, epoch: UInt32) throws -> [UInt8]? {
        let epoch = withUnsafeBytes(of: epoch.bigEndian, Array.init)
        return try self.seal([Kind.base.rawValue] + Self.bytes(device) + epoch, keyID: self.currentKeyID)
    }

    /// Decrypts a token and returns the identity behind it, or `nil` if none of the keys encrypted it.
    func open(_ token: DeviceToken) -> Claims? {
        self.unseal(token.bytes)?.withUnsafeBytes { text in
            guard text.count >= 42, text[0] == Kind.app.rawValue, let environment = PushEnvironment(code: text[1]),
                let topic = TopicHash(bytes: text[22..<42])
            else { return nil }
            return Claims(
                device: UUID(uuid: text.loadUnaligned(fromByteOffset: 6, as: uuid_t.self)),
                topic: topic,
                environment: environment,
                generation: UInt32(bigEndian: text.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
            )
        }
    }

    private func seal(_ text: [UInt8], keyID: UInt8) throws -> [UInt8]? {
        let (id, known) = self.key(keyID).map { (keyID, $0) } ?? (self.currentKeyID, self.key(self.currentKeyID))
        guard let key = known else { return nil }
        let mac = Array(HMAC<SHA256>.authenticationCode(for: text, using: key.nonce))
        let padded = text + [UInt8](repeating: 0, count: Int(mac[12] & 15))
        let nonce = try AES.GCM.Nonce(data: mac.prefix(12))
        let box = try AES.GCM.seal(padded, using: key.sealing, nonce: nonce, authenticating: [id])
        return [id] + mac.prefix(12) + Array(box.ciphertext) + Array(box.tag)
    }

    private func unseal(_ token: [UInt8]) -> Data? {
        guard token.count > Self.headerLength + Self.tagLength, let key = self.key(token[0]),
            let box = try? AES.GCM.SealedBox(combined: token[1...])
        else { return nil }
        return try? AES.GCM.open(box, using: key.sealing, authenticating: token[..<1])
    }

    private static func bytes(_ uuid: UUID) -> [UInt8] { withUnsafeBytes(of: uuid.uuid, Array.init) }
}

/// The state of a device token, which ``DeviceRegistry/status(of:in:)`` returns and all listeners check.
enum TokenStatus: Hashable, Sendable {
    /// The state of a valid token, whose app is on the device.
    case active(device: UUID, topic: TopicHash)
    /// The state of a token that was valid once, until the app was removed or the token was replaced. A push to it is
    /// rejected with status 410.
    case unregistered(UnregisteredToken)
    /// The state of a token that was not minted here, or belongs to the other environment or to a device that was never
    /// activated.
    case unknown
}

struct UnregisteredToken: Hashable, Sendable {
    var token: DeviceToken
    var device: UUID
    var topic: TopicHash
    var since: Timestamp
}

extension PushEnvironment {
    /// The byte that stands for the environment in tokens and event blocks, where 0 stands for no environment. It must
    /// never change.
    var code: UInt8 {
        switch self {
        case .sandbox: 1
        case .production: 2
        }
    }

    init?(code: UInt8) {
        guard let environment = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = environment
    }
}

/// An entry of a feedback list: the token of an app that was removed from a device (reference 6).
struct FeedbackEntry: Hashable, Sendable {
    var topic: Topic
    var token: DeviceToken
    /// The time at which the gateway learned that the app was removed. The wire format has whole seconds.
    var time: Timestamp

    var tuple: FeedbackTuple { FeedbackTuple(seconds: UInt32(clamping: self.time.seconds), token: self.token) }
}
