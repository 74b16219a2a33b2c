import SwiftASN1

/// Determines the number of iterations with which an encryption key is derived from a passphrase.
enum KeyDerivation {
    private struct Unsupported: Error {}

    /// Returns the number of iterations of an `EncryptedPrivateKeyInfo` (RFC 5958).
    static func rounds(key der: ArraySlice<UInt8>) throws -> Int {
        var nodes = try Self.children(BER.parse(der))
        return try Self.rounds(algorithm: Self.next(&nodes))
    }

    /// Returns the number of iterations of an `EncryptedData` (RFC 2315 section 13).
    static func rounds(encryptedData node: ASN1Node) throws -> Int {
        var nodes = try Self.children(node)
        _ = try Self.next(&nodes)
        var info = try Self.children(Self.next(&nodes))
        _ = try Self.next(&info)
        return try Self.rounds(algorithm: Self.next(&info))
    }

    /// Returns the number of iterations of PBES2 with PBKDF2 (RFC 8018), or of a PKCS#12 scheme (RFC 7292 appendix C).
    private static func rounds(algorithm: ASN1Node) throws -> Int {
        var nodes = try Self.children(algorithm)
        let type = try ASN1ObjectIdentifier(berEncoded: &nodes)
        var parameters = try Self.children(Self.next(&nodes))
        if type == .pbes2 {
            var derivation = try Self.children(Self.next(&parameters))
            guard try ASN1ObjectIdentifier(berEncoded: &derivation) == .pbkdf2 else { throw Unsupported() }
            parameters = try Self.children(Self.next(&derivation))
        }
        // Skips the salt.
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

/// A limit of the iterations of the key derivations in one file. BoringSSL performs up to 100,000,000 iterations for
/// each key and cannot be interrupted, so the iterations are added up beforehand.
struct KeyDerivationLimit {
    /// The maximum number of iterations for one encryption, which is more than any tool uses. More are refused.
    static let maximumRounds = 1_000_000
    /// The maximum number of iterations for a whole file, which usually encrypts a key and its certificates. More are
    /// refused.
    static let maximumTotal = 2_000_000

    private var total = 0

    /// Adds the iterations of one encryption, and checks the limits.
    /// - Throws: ``CredentialError/tooManyIterations`` if a limit is exceeded.
    mutating func add(_ rounds: Int) throws(CredentialError) {
        guard rounds <= Self.maximumRounds, self.total + rounds <= Self.maximumTotal else { throw .tooManyIterations }
        self.total += rounds
    }
}
