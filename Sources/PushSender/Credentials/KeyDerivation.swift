import SwiftASN1

/// The derivation of a key from a passphrase, as the encryption's algorithm describes it.
enum KeyDerivation {
    /// A key derivation that BoringSSL does not support, or a malformed one.
    private struct Unsupported: Error {}

    /// Returns the iterations of an `EncryptedPrivateKeyInfo` (RFC 5958).
    static func rounds(key der: ArraySlice<UInt8>) throws -> Int {
        var nodes = try Self.children(BER.parse(der))
        return try Self.rounds(algorithm: Self.next(&nodes))
    }

    /// Returns the iterations of an `EncryptedData` (RFC 2315 section 13).
    static func rounds(encryptedData node: ASN1Node) throws -> Int {
        var nodes = try Self.children(node)
        _ = try Self.next(&nodes)
        var info = try Self.children(Self.next(&nodes))
        _ = try Self.next(&info)
        return try Self.rounds(algorithm: Self.next(&info))
    }

    /// Returns the iterations of an algorithm: PBES2 with PBKDF2 (RFC 8018), or one of PKCS#12 (RFC 7292 appendix C).
    private static func rounds(algorithm: ASN1Node) throws -> Int {
        var nodes = try Self.children(algorithm)
        let type = try ASN1ObjectIdentifier(berEncoded: &nodes)
        var parameters = try Self.children(Self.next(&nodes))
        if type == .pbes2 {
            var derivation = try Self.children(Self.next(&parameters))
            guard try ASN1ObjectIdentifier(berEncoded: &derivation) == .pbkdf2 else { throw Unsupported() }
            parameters = try Self.children(Self.next(&derivation))
        }
        // The salt.
        _ = try Self.next(&parameters)
        let rounds = try Int(berEncoded: &parameters)
        guard rounds > 0 else { throw Unsupported() }
        return rounds
    }

    private static func children(_ node: ASN1Node) throws -> ASN1NodeCollection.Iterator {
        guard node.identifier == .sequence, case .constructed(let nodes) = node.content else { throw Unsupported() }
        return nodes.makeIterator()
    }

    private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
        guard let node = nodes.next() else { throw Unsupported() }
        return node
    }
}

/// Limits the iterations of the key derivations in one file.
///
/// BoringSSL makes up to 100,000,000 for each of them, and cannot be interrupted. So they are added before it begins.
struct KeyDerivationLimit {
    /// The maximum number of iterations of one encryption, more than any tool uses.
    static let maximumRounds = 1_000_000
    /// The maximum number of iterations of a whole file, which usually encrypts a key and its certificates.
    static let maximumTotal = 2_000_000

    private var total = 0

    /// Adds the iterations of one encryption.
    mutating func add(_ rounds: Int) throws(CredentialError) {
        guard rounds <= Self.maximumRounds, self.total + rounds <= Self.maximumTotal else { throw .tooManyIterations }
        self.total += rounds
    }
}
