import Crypto
import Foundation

/// What proves a `.p12` and its passphrase (RFC 7292 section 4 and appendix B).
struct PKCS12MAC {
    enum Digest {
        case sha1, sha256, sha384, sha512
    }

    /// More rounds than any tool makes; a hostile file must not keep a server busy.
    static let maximumRounds = 1_000_000

    /// `nil` if the digest is not supported.
    var digest: Digest?
    var salt: [UInt8]
    var rounds: Int
    var value: [UInt8]

    /// Whether this MAC fits `content`; `nil` if it cannot be computed.
    func isRight(for content: some DataProtocol, password: [UInt8]) -> Bool? {
        guard let digest, (1...Self.maximumRounds).contains(self.rounds) else { return nil }
        return switch digest {
        case .sha1: self.verify(Insecure.SHA1.self, content, password)
        case .sha256: self.verify(SHA256.self, content, password)
        case .sha384: self.verify(SHA384.self, content, password)
        case .sha512: self.verify(SHA512.self, content, password)
        }
    }

    /// SHA-256 in one round: for an archive that never leaves the process.
    static func sign(_ content: [UInt8], password: [UInt8], salt: [UInt8]) -> [UInt8] {
        let key = Self.key(SHA256.self, password: password, salt: salt, rounds: 1)
        return Array(HMAC<SHA256>.authenticationCode(for: content, using: key))
    }

    /// UTF-16, big-endian, with a terminating NUL.
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

    /// Appendix B.2 with ID 3; a MAC key is as long as the digest, so one block is enough.
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

    /// `bytes` again and again, up to a multiple of `block`; nothing stays nothing.
    private static func filled(_ bytes: [UInt8], _ block: Int) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let count = (bytes.count + block - 1) / block * block
        let copies = (count + bytes.count - 1) / bytes.count
        return Array((0..<copies).flatMap { _ in bytes }.prefix(count))
    }
}
