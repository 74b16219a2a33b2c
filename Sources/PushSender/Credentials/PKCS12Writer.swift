import PushTypes
import SwiftASN1

/// A writer that creates a `.p12` with one key, its certificate and the certificate's authorities (RFC 7292). As in
/// OpenSSL 3, the encryption is PBES2 and the MAC is HMAC-SHA256.
struct PKCS12Writer {
    private static let rounds = 10_000
    private static let saltLength = 16
    private static let localKeyID: [UInt8] = [1]

    /// The certificates in DER. The first one belongs to the key.
    let certificates: [[UInt8]]
    let key: PKCS8Key
    let passphrase: String

    /// Returns the encoded archive.
    /// - Throws: An error of swift-asn1 or swift-crypto, although none occurs for parsed keys and certificates.
    func archive() throws -> [UInt8] {
        let bags = try PKCS12DER.sequence { coder in
            for (index, certificate) in self.certificates.enumerated() {
                try Self.bag(.certificateBag, isPaired: index == 0, into: &coder) { coder in
                    try PKCS12DER.certificate(certificate, into: &coder)
                }
            }
        }
        let content = try PKCS12DER.sequence { coder in
            try self.encrypted(bags, into: &coder)
            try PKCS12DER.data(try self.keyBag(), into: &coder)
        }
        return try self.signed(content)
    }

    private func keyBag() throws -> [UInt8] {
        let encrypted = try PBES2(self.key.der, passphrase: self.passphrase)
        return try PKCS12DER.sequence { coder in
            try Self.bag(.shroudedKeyBag, isPaired: true, into: &coder) { coder in
                coder.serializeRawBytes(try encrypted.keyInfo())
            }
        }
    }

    private func encrypted(_ bags: [UInt8], into coder: inout DER.Serializer) throws {
        let encrypted = try PBES2(bags, passphrase: self.passphrase)
        try PKCS12DER.typed(.encryptedData, into: &coder) { coder in
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(0)
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1ObjectIdentifier.pkcs7Data)
                    coder.serializeRawBytes(encrypted.algorithm)
                    coder.appendPrimitiveNode(
                        identifier: ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
                    ) { $0 += encrypted.ciphertext }
                }
            }
        }
    }

    private func signed(_ content: [UInt8]) throws -> [UInt8] {
        try PKCS12DER.archive(
            content,
            password: PKCS12MAC.password(self.passphrase),
            salt: RandomBytes.make(Self.saltLength),
            rounds: Self.rounds
        )
    }

    /// Writes a bag, an item of the archive with its type.
    /// - Parameter isPaired: Pass `true` for the key and for its certificate, which receive the same `localKeyId`.
    private static func bag(
        _ type: ASN1ObjectIdentifier,
        isPaired: Bool,
        into coder: inout DER.Serializer,
        _ value: (inout DER.Serializer) throws -> Void
    ) throws {
        let pairing = { (coder: inout DER.Serializer) in
            guard isPaired else { return }
            try coder.appendConstructedNode(identifier: .set) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.serialize(ASN1ObjectIdentifier.localKeyID)
                    try coder.appendConstructedNode(identifier: .set) { coder in
                        try coder.serialize(ASN1OctetString(contentBytes: Self.localKeyID[...]))
                    }
                }
            }
        }
        try PKCS12DER.typed(type, into: &coder, attributes: pairing, value)
    }
}

extension ASN1ObjectIdentifier {
    static let pkcs7Data: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 1]
    static let encryptedData: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 7, 6]
    static let shroudedKeyBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 2]
    static let certificateBag: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 12, 10, 1, 3]
    static let x509Certificate: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 22, 1]
    fileprivate static let localKeyID: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 9, 21]
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
}

/// Writes the structures of a `.p12` in DER (RFC 7292).
enum PKCS12DER {
    static func sequence(_ body: (inout DER.Serializer) throws -> Void) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence, body)
        return coder.serializedBytes
    }

    /// Writes a bag or a `ContentInfo`, which consists of a type, and of a value with the tag `[0]`.
    /// - Parameters:
    ///   - attributes: A closure that writes the attributes, which follow the value.
    ///   - value: A closure that writes the value.
    static func typed(
        _ type: ASN1ObjectIdentifier,
        into coder: inout DER.Serializer,
        attributes: (inout DER.Serializer) throws -> Void = { _ in },
        _ value: (inout DER.Serializer) throws -> Void
    ) throws {
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(type)
            try coder.serialize(explicitlyTaggedWithTagNumber: 0, tagClass: .contextSpecific, value)
            try attributes(&coder)
        }
    }

    static func data(_ bytes: [UInt8], into coder: inout DER.Serializer) throws {
        try Self.typed(.pkcs7Data, into: &coder) { try $0.serialize(ASN1OctetString(contentBytes: bytes[...])) }
    }

    static func certificate(_ der: [UInt8], into coder: inout DER.Serializer) throws {
        try Self.typed(.x509Certificate, into: &coder) { try $0.serialize(ASN1OctetString(contentBytes: der[...])) }
    }

    /// Returns the archive with its MAC.
    /// - Parameter password: The passphrase in the encoding of archives.
    static func archive(_ content: [UInt8], password: [UInt8], salt: [UInt8], rounds: Int) throws -> [UInt8] {
        let mac = PKCS12MAC.sign(content, password: password, salt: salt, rounds: rounds)
        return try Self.sequence { coder in
            try coder.serialize(3)
            try Self.data(content, into: &coder)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.appendConstructedNode(identifier: .sequence) { coder in
                    try coder.appendConstructedNode(identifier: .sequence) { coder in
                        try coder.serialize(ASN1ObjectIdentifier.sha256)
                        try coder.serialize(ASN1Null())
                    }
                    try coder.serialize(ASN1OctetString(contentBytes: mac[...]))
                }
                try coder.serialize(ASN1OctetString(contentBytes: salt[...]))
                try coder.serialize(rounds)
            }
        }
    }
}
