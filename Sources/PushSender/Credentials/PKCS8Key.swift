import Crypto
import NIOSSL
import SwiftASN1

/// A private key in PKCS#8 (RFC 5958), the form that PKCS#12 and encrypted PEM files hold.
struct PKCS8Key {
    /// The key in DER.
    let der: [UInt8]

    /// - Throws: ``CredentialError/unsupportedPrivateKey`` for a key that is neither RSA nor EC.
    init(_ key: NIOSSLPrivateKey) throws(CredentialError) {
        guard let bytes = try? key.derBytes, let der = Self.der(bytes) else { throw .unsupportedPrivateKey }
        self.der = der
    }

    /// Returns a key that BoringSSL has written: PKCS#1 for RSA, SEC 1 for EC.
    private static func der(_ bytes: [UInt8]) -> [UInt8]? {
        if let key = try? P256.Signing.PrivateKey(derRepresentation: bytes) { return Array(key.derRepresentation) }
        if let key = try? P384.Signing.PrivateKey(derRepresentation: bytes) { return Array(key.derRepresentation) }
        if let key = try? P521.Signing.PrivateKey(derRepresentation: bytes) { return Array(key.derRepresentation) }
        guard (try? PrivateKeyReader.key(rsa: bytes)) != nil else { return nil }
        return try? Self.wrapped(rsa: bytes)
    }

    /// Returns an RSA key of PKCS#1 in PKCS#8.
    private static func wrapped(rsa bytes: [UInt8]) throws -> [UInt8] {
        var coder = DER.Serializer()
        try coder.appendConstructedNode(identifier: .sequence) { coder in
            try coder.serialize(0)
            try coder.appendConstructedNode(identifier: .sequence) { coder in
                try coder.serialize(ASN1ObjectIdentifier.rsaEncryption)
                try coder.serialize(ASN1Null())
            }
            try coder.serialize(ASN1OctetString(contentBytes: bytes[...]))
        }
        return coder.serializedBytes
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113549, 1, 1, 1]
}
