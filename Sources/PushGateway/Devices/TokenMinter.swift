import Crypto
import Foundation
import PushTypes
import PushWire
import Synchronization

/// Makes and opens device tokens and base tokens: AES-GCM over what they stand for, so that a token needs no look-up and
/// tells nobody else anything.
///
/// Several token keys can be known: the newest seals, every one still opens, so that a token of before a rotation is
/// recognised until its device has fetched a new one.
///
/// Layout: key id (1) ‖ nonce (12) ‖ sealed (kind, environment, generation, device id, topic hash, padding) ‖ tag (16).
/// The nonce is an HMAC of the plain text, so that asking twice gives the same token and no nonce ever serves two
/// different texts. Zero to fifteen bytes of padding, also from the HMAC, make the lengths vary, as Apple's do
/// (reference 1.7). Tokens have 71 to 86 bytes, base tokens 46 to 61: never 20, which is a topic hash's length.
///
/// Apps whose providers can do no better have tokens of 32 bytes, an HMAC over the same: they hold nothing and are looked
/// up in the ``DeviceRegistry`` (docs/decisions/0016).
final class TokenMinter: Sendable {
    /// What a device token stands for.
    struct Claims: Hashable, Sendable {
        var device: UUID
        var topic: TopicHash
        var environment: PushEnvironment
        /// Rises when the token is reissued.
        var generation: UInt32
    }

    static let keyLength = 32
    /// Bytes of a token that is looked up.
    static let shortLength = 32
    /// Most keys, the retired ones among them: the key id is one byte.
    static let maximumKeys = 255
    private static let headerLength = 1 + 12
    private static let tagLength = 16

    private enum Kind: UInt8 {
        case base = 0
        case app = 1
    }

    /// One token key, split into its uses.
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

    /// In the order of their ids, which start with 1.
    private let keys: Mutex<[Key]>

    /// - Parameter keys: 32 random bytes each, oldest first; kept for as long as their tokens are to be recognised.
    init(keys: [[UInt8]]) {
        self.keys = Mutex(keys.prefix(Self.maximumKeys).map(Key.init))
    }

    /// The key that seals now.
    var currentKeyID: UInt8 { UInt8(clamping: self.keys.withLock { $0.count }) }

    /// From now on `key` seals. `false` when there are too many already.
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

    /// - Parameter keyID: the key that seals it; the current one if there is none of this id.
    func deviceToken(_ claims: Claims, keyID: UInt8) throws -> DeviceToken? {
        try self.seal(Self.text(claims), keyID: keyID).flatMap(DeviceToken.init(bytes:))
    }

    /// A token of ``shortLength`` bytes, the same each time.
    /// - Parameter keyID: the key that makes it; the current one if there is none of this id.
    func shortToken(_ claims: Claims, keyID: UInt8) -> DeviceToken? {
        guard let key = self.key(keyID) ?? self.key(self.currentKeyID) else { return nil }
        return DeviceToken(bytes: Array(HMAC<SHA256>.authenticationCode(for: Self.text(claims), using: key.short)))
    }

    private static func text(_ claims: Claims) -> [UInt8] {
        let generation = withUnsafeBytes(of: claims.generation.bigEndian, Array.init)
        let text = [Kind.app.rawValue, Self.byte(claims.environment)] + generation + Self.bytes(claims.device)
        return text + claims.topic.bytes
    }

    /// - Parameter epoch: counts the installations of the device's system.
    func baseToken(for device: UUID, epoch: UInt32) throws -> [UInt8]? {
        let epoch = withUnsafeBytes(of: epoch.bigEndian, Array.init)
        return try self.seal([Kind.base.rawValue] + Self.bytes(device) + epoch, keyID: self.currentKeyID)
    }

    /// What `token` stands for, or `nil` if no key of these made it.
    func open(_ token: DeviceToken) -> Claims? {
        self.unseal(token.bytes)?.withUnsafeBytes { text in
            guard text.count >= 42, text[0] == Kind.app.rawValue, let environment = Self.environment(text[1]),
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

    private static func byte(_ environment: PushEnvironment) -> UInt8 {
        switch environment {
        case .sandbox: 1
        case .production: 2
        }
    }

    private static func environment(_ byte: UInt8) -> PushEnvironment? {
        PushEnvironment.allCases.first { Self.byte($0) == byte }
    }

    private static func bytes(_ uuid: UUID) -> [UInt8] {
        withUnsafeBytes(of: uuid.uuid, Array.init)
    }
}
