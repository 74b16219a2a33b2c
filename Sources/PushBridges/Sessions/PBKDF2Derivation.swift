import Crypto
import CryptoExtras
import Foundation

/// A key that is derived from a password with PBKDF2 (RFC 8018 section 5.2).
package struct PBKDF2Derivation: Hashable, Sendable {
    package enum Hash: Hashable, Sendable {
        case sha1, sha256

        /// The bytes of a hash.
        package var length: Int { self == .sha1 ? 20 : 32 }
    }

    package var hash: Hash
    package var password: String
    package var salt: [UInt8]
    package var rounds: Int
}

extension PBKDF2Derivation {
    /// Derives the key, which takes a microsecond for two rounds or so. The key has the length of its hash.
    /// - Returns: The key; empty if it cannot be derived.
    package func key() -> [UInt8] {
        let key = try? KDF.Insecure.PBKDF2.deriveKey(
            from: Data(self.password.utf8),
            salt: self.salt,
            using: self.hash == .sha1 ? .insecureSHA1 : .sha256,
            outputByteCount: self.hash.length,
            unsafeUncheckedRounds: self.rounds
        )
        return key?.withUnsafeBytes { Array($0) } ?? []
    }
}
