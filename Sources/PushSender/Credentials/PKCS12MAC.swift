import Crypto
import Foundation

/// The MAC that authenticates a `.p12` and its passphrase (RFC 7292 section 4 and appendix B).
struct PKCS12MAC {
    /// A hash function that tools use.
    enum Digest { case sha1, sha256, sha384, sha512 }

    /// The hash function; `nil` if it is not supported.
    var digest: Digest?
    var salt: [UInt8]
    var rounds: Int
    var value: [UInt8]

    /// Returns whether this is the MAC of `content`, or returns `nil` if it cannot be computed.
    func isValid(for content: some DataProtocol, password: [UInt8]) -> Bool? {
        guard let digest, (1...KeyDerivationLimit.maximumRounds).contains(self.rounds) else { return nil }
        return switch digest {
        case .sha1: self.verify(Insecure.SHA1.self, content, password)
        case .sha256: self.verify(SHA256.self, content, password)
        case .sha384: self.verify(SHA384.self, content, password)
        case .sha512: self.verify(SHA512.self, content, password)
        }
    }

    /// Returns a MAC with SHA-256. One iteration is enough for an archive that never leaves the process.
    static func sign(_ content: [UInt8], password: [UInt8], salt: [UInt8], rounds: Int) -> [UInt8] {
        let key = Self.key(SHA256.self, password: password, salt: salt, rounds: rounds)
        return Array(HMAC<SHA256>.authenticationCode(for: content, using: key))
    }

    /// Returns the password's encoding: UTF-16, big-endian, with a terminating NUL (RFC 7292 appendix B.1).
    static func password(_ text: String) -> [UInt8] {
        (Array(text.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }

    private func verify<Hash: HashFunction>(
        _: Hash.Type,
        _ content: some DataProtocol,
        _ password: [UInt8]
    ) -> Bool {
        let key = Self.key(Hash.self, password: password, salt: self.salt, rounds: self.rounds)
        return HMAC<Hash>.isValidAuthenticationCode(self.value, authenticating: content, using: key)
    }

    /// Derives the MAC key (RFC 7292 appendix B.2, ID 3). The key is as long as the digest, so one block is enough.
    private static func key<Hash: HashFunction>(
        _: Hash.Type,
        password: [UInt8],
        salt: [UInt8],
        rounds: Int
    ) -> SymmetricKey {
        let block = Hash.blockByteCount
        var hash = Hash()
        hash.update(data: [UInt8](repeating: 3, count: block))
        hash.update(data: Self.filled(salt, block))
        hash.update(data: Self.filled(password, block))
        var digest = hash.finalize()
        for _ in 1..<max(rounds, 1) {
            var next = Hash()
            digest.withUnsafeBytes { next.update(bufferPointer: $0) }
            digest = next.finalize()
        }
        return SymmetricKey(data: digest)
    }

    /// Returns `bytes` repeated up to a multiple of `block`. No bytes stay no bytes.
    private static func filled(_ bytes: [UInt8], _ block: Int) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let count = (bytes.count + block - 1) / block * block
        let copies = (count + bytes.count - 1) / bytes.count
        return Array((0..<copies).flatMap { _ in bytes }.prefix(count))
    }
}
