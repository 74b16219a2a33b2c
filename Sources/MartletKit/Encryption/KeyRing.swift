#if Encryption
import Crypto
import Foundation

/// The stored keys of an installation, the current one last.
struct KeyRing: Codable {
    struct Key: Codable {
        var id: String
        var privateKey: Data
        var created: Date
        /// The time at which another took its place; `nil` for the current key.
        var replaced: Date?

        private enum CodingKeys: String, CodingKey {
            case id, created, replaced
            case privateKey = "private"
        }
    }

    private static let timeKept = Double(EncryptionKeys.daysKept) * 86400

    private var keys: [Key] = []

    init() {}

    /// Reads what is stored; nothing makes an empty ring.
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

    /// Returns the private key of an id, unless it was replaced too long ago.
    func key(_ id: String, now: Date) -> Curve25519.KeyAgreement.PrivateKey? {
        self.keys.last { $0.id == id && Self.isKept($0, now: now) }?.curveKey
    }

    /// Makes a new current key, and drops the keys that are too old or too many.
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

    /// Drops the keys that are too old, and returns `true` if there were any.
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
#endif
