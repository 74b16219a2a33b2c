import SwiftASN1

/// The structures of a `.p12` in DER (RFC 7292).
enum PKCS12DER {
    static func sequence(_ body: (inout DER.Serializer) throws -> Void) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence, body)
        return coder.serializedBytes
    }

    /// Writes a bag or a `ContentInfo`: a type and, under the tag `[0]`, its value.
    /// - Parameter attributes: Writes what follows the value.
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

    /// Writes a `ContentInfo` of the type data.
    static func data(_ bytes: [UInt8], into coder: inout DER.Serializer) throws {
        try Self.typed(.pkcs7Data, into: &coder) { try $0.serialize(ASN1OctetString(contentBytes: bytes[...])) }
    }

    /// Writes the value of a bag with a certificate.
    static func certificate(_ der: [UInt8], into coder: inout DER.Serializer) throws {
        try Self.typed(.x509Certificate, into: &coder) { try $0.serialize(ASN1OctetString(contentBytes: der[...])) }
    }

    /// Returns the whole archive with its MAC.
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
