import Crypto
import Foundation
import SwiftASN1

/// The structure of a `.p12`, without decryption (RFC 7292 section 4).
struct PKCS12File {
    /// A PKCS#8 key in an unencrypted `SafeContents`. Usually, the key itself is encrypted with the passphrase.
    struct Key {
        var label: String
        var der: ArraySlice<UInt8>
    }

    let content: [UInt8]
    /// The MAC, or `nil` for an archive without one (`openssl pkcs12 -nomac`).
    let mac: PKCS12MAC?
    private(set) var keys: [Key] = []
    /// The number of key derivation iterations of each encrypted `SafeContents`, or `nil` for unsupported encryption.
    private(set) var encryptedRounds: [Int?] = []
    /// The encrypted `SafeContents` of the archive, unchanged.
    private var encrypted: [ArraySlice<UInt8>] = []
    /// The bags (items) in the unencrypted `SafeContents` that are not keys, unchanged.
    private var otherBags: [ArraySlice<UInt8>] = []

    /// Parses an archive.
    /// - Throws: An error unless `bytes` are a PFX in the password integrity mode.
    init(_ bytes: [UInt8]) throws {
        let (content, mac) = try BER.sequence(BER.parse(bytes), identifier: .sequence) { nodes in
            guard try Int(berEncoded: &nodes) == 3 else { throw Broken() }
            let content = try Self.contentInfo(Self.next(&nodes))
            guard content.type == .pkcs7Data else { throw Broken() }
            return (try ASN1OctetString(berEncoded: content.node).bytes, try nodes.next().map(Self.mac))
        }
        self.content = Array(content)
        self.mac = mac
        for info in try Self.children(BER.parse(content)) {
            let part = try Self.contentInfo(info)
            if part.type == .pkcs7Data {
                for bag in try Self.children(BER.parse(ASN1OctetString(berEncoded: part.node).bytes)) {
                    try self.add(bag)
                }
            } else {
                if part.type == .encryptedData {
                    self.encryptedRounds.append(try? KeyDerivation.rounds(encryptedData: part.node))
                }
                self.encrypted.append(info.encodedBytes)
            }
        }
    }

    private mutating func add(_ bag: ASN1Node) throws {
        var nodes = try Self.children(bag).makeIterator()
        let type = try ASN1ObjectIdentifier(berEncoded: &nodes)
        let value = try Self.explicit(Self.next(&nodes))
        switch type {
        case .keyBag: self.keys.append(Key(label: "PRIVATE KEY", der: value.encodedBytes))
        case .shroudedKeyBag: self.keys.append(Key(label: PrivateKeyReader.encryptedLabel, der: value.encodedBytes))
        default: self.otherBags.append(bag.encodedBytes)
        }
    }

    private struct Broken: Error {}

    private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
        guard let node = nodes.next() else { throw Broken() }
        return node
    }

    private static func children(_ node: ASN1Node) throws -> ASN1NodeCollection {
        guard node.identifier == .sequence, case .constructed(let nodes) = node.content else { throw Broken() }
        return nodes
    }

    /// Returns the first child of a node, which must have the tag `[0]`.
    private static func explicit(_ node: ASN1Node) throws -> ASN1Node {
        guard node.identifier == .explicit, case .constructed(let nodes) = node.content else { throw Broken() }
        var iterator = nodes.makeIterator()
        return try Self.next(&iterator)
    }

    private static func contentInfo(_ node: ASN1Node) throws -> (type: ASN1ObjectIdentifier, node: ASN1Node) {
        var nodes = try Self.children(node).makeIterator()
        return (try ASN1ObjectIdentifier(berEncoded: &nodes), try Self.explicit(Self.next(&nodes)))
    }

    /// Parses `MacData`, which consists of the digest's algorithm and value, the salt, and the iterations, by default
    /// 1.
    private static func mac(_ node: ASN1Node) throws -> PKCS12MAC {
        var nodes = try Self.children(node).makeIterator()
        var info = try Self.children(Self.next(&nodes)).makeIterator()
        var algorithm = try Self.children(Self.next(&info)).makeIterator()
        let digest: PKCS12MAC.Digest? =
            switch try ASN1ObjectIdentifier(berEncoded: &algorithm) {
            case .sha1: .sha1
            case .sha256: .sha256
            case .sha384: .sha384
            case .sha512: .sha512
            default: nil
            }
        let value = try ASN1OctetString(berEncoded: &info).bytes
        let salt = try ASN1OctetString(berEncoded: &nodes).bytes
        let rounds = try nodes.next().map { try Int(berEncoded: $0) } ?? 1
        return PKCS12MAC(digest: digest, salt: Array(salt), rounds: rounds, value: Array(value))
    }
}

extension PKCS12File {
    /// Returns the passphrase in the encoding of the archive, verified by the MAC if the archive has one.
    /// - Throws: ``CredentialError`` for a wrong passphrase or an unsupported MAC.
    func password(_ passphrase: String) throws(CredentialError) -> [UInt8] {
        let encoded = PKCS12MAC.password(passphrase)
        guard let mac = self.mac else { return encoded }
        // RFC 7292 ends a password with two zero bytes; some tools leave them out when it is empty.
        for candidate in passphrase.isEmpty ? [encoded, []] : [encoded] {
            guard let isValid = mac.isValid(for: self.content, password: candidate) else { throw .unsupportedArchive }
            if isValid { return candidate }
        }
        throw .wrongPassphrase
    }

    /// Returns an archive with the certificates of this archive and the key of `companion`, but none of its own keys.
    ///
    /// The key comes first, so that BoringSSL refuses a key in encrypted `SafeContents` before it decrypts that one.
    ///
    /// The key of `companion` is the first item, so that BoringSSL refuses a further key in encrypted `SafeContents`
    /// before decrypting it.
    /// - Parameter password: The passphrase in the encoding of the archive.
    func withoutKeys(adding companion: PKCS12Archive.Companion, password: [UInt8]) throws -> [UInt8] {
        let pair = try PKCS12DER.sequence { coder in
            try PKCS12DER.typed(.keyBag, into: &coder) { $0.serializeRawBytes(companion.key) }
            try PKCS12DER.typed(.certificateBag, into: &coder) { coder in
                try PKCS12DER.certificate(companion.certificate, into: &coder)
            }
        }
        let others = try PKCS12DER.sequence { coder in
            for bag in self.otherBags { coder.serializeRawBytes(bag) }
        }
        let content = try PKCS12DER.sequence { coder in
            try PKCS12DER.data(pair, into: &coder)
            for part in self.encrypted { coder.serializeRawBytes(part) }
            try PKCS12DER.data(others, into: &coder)
        }
        return try PKCS12DER.archive(content, password: password, salt: [0, 1, 2, 3, 4, 5, 6, 7], rounds: 1)
    }
}

extension ASN1Identifier {
    fileprivate static let explicit = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
}

extension ASN1ObjectIdentifier {
    fileprivate static let keyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 1]
    fileprivate static let sha1: ASN1ObjectIdentifier = [1, 3, 14, 3, 2, 26]
    fileprivate static let sha384: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 2]
    fileprivate static let sha512: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 3]
}

/// The MAC that authenticates a `.p12` and its passphrase (RFC 7292 section 4 and appendix B).
struct PKCS12MAC {
    enum Digest { case sha1, sha256, sha384, sha512 }

    /// The hash function of the MAC, or `nil` if it is not supported.
    var digest: Digest?
    var salt: [UInt8]
    var rounds: Int
    var value: [UInt8]

    /// Returns whether this is the MAC of `content`, or `nil` if the MAC cannot be computed.
    func isValid(for content: some DataProtocol, password: [UInt8]) -> Bool? {
        guard let digest, (1...KeyDerivationLimit.maximumRounds).contains(self.rounds) else { return nil }
        return switch digest {
        case .sha1: self.verify(Insecure.SHA1.self, content, password)
        case .sha256: self.verify(SHA256.self, content, password)
        case .sha384: self.verify(SHA384.self, content, password)
        case .sha512: self.verify(SHA512.self, content, password)
        }
    }

    /// Returns a MAC with SHA-256. One iteration suffices for an archive that never leaves the process.
    static func sign(_ content: [UInt8], password: [UInt8], salt: [UInt8], rounds: Int) -> [UInt8] {
        let key = Self.key(SHA256.self, password: password, salt: salt, rounds: rounds)
        return Array(HMAC<SHA256>.authenticationCode(for: content, using: key))
    }

    /// Returns a password in the encoding of archives, which is big-endian UTF-16 with a terminating NUL (RFC 7292
    /// appendix B.1).
    static func password(_ text: String) -> [UInt8] {
        (Array(text.utf16) + [0]).flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }
    }

    private func verify<Hash: HashFunction>(_: Hash.Type, _ content: some DataProtocol, _ password: [UInt8]) -> Bool {
        let key = Self.key(Hash.self, password: password, salt: self.salt, rounds: self.rounds)
        return HMAC<Hash>.isValidAuthenticationCode(self.value, authenticating: content, using: key)
    }

    /// Derives the MAC key (RFC 7292 appendix B.2, ID 3). The key is as long as the digest, so one block suffices.
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

    /// Returns `bytes` repeated until they fill a multiple of `block` bytes. An empty array stays empty.
    private static func filled(_ bytes: [UInt8], _ block: Int) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        let count = (bytes.count + block - 1) / block * block
        let copies = (count + bytes.count - 1) / bytes.count
        return Array((0..<copies).flatMap { _ in bytes }.prefix(count))
    }
}
