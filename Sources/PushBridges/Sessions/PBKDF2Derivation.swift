import Crypto
import CryptoExtras
import Foundation

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
