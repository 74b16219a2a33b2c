import Crypto
package import Foundation
package import PushSupport
package import PushTypes
import SwiftASN1
import X509

/// An authority that signs transactions as the App Store does, with certificates that look like Apple's.
package struct TestAppStore: Sendable {
    /// The deviations from Apple's certificates.
    package struct Flaws: Hashable, Sendable {
        /// `false` leaves out the mark of the signer's certificate.
        package var marksSigner = true
        /// `false` leaves out the mark of the intermediate certificate.
        package var marksIntermediate = true
        /// `false` makes the intermediate certificate one that may not issue others.
        package var intermediateIsAuthority = true
        /// The time after the start at which the intermediate certificate ends.
        package var intermediateLifetime: Duration = .seconds(365 * 86_400)
        /// `true` gives the signer a key that ES256 cannot use.
        package var signerIsP384 = false

        package init() {}
    }

    /// The root's, the intermediate and the signer's certificate in DER.
    package let root, intermediate, signer: [UInt8]
    private let key: P256.Signing.PrivateKey
    private let start: Timestamp

    /// - Parameter start: The time of the signatures; the certificates are a day older.
    package init(_ flaws: Flaws = Flaws(), start: Timestamp = Timestamp(seconds: 1_700_000_000)) throws {
        let (rootKey, issuerKey, key) = (
            P384.Signing.PrivateKey(), P384.Signing.PrivateKey(), P256.Signing.PrivateKey()
        )
        let (rootName, issuerName) = (try Self.name("Test Root CA"), try Self.name("Test Developer Relations"))
        let begin = Self.date(start.advanced(by: .seconds(-86_400)))
        let root = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: .init(rootKey.publicKey),
            notValidBefore: begin,
            notValidAfter: Self.date(start.advanced(by: .seconds(20 * 365 * 86_400))),
            issuer: rootName,
            subject: rootName,
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: try .init { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) },
            issuerPrivateKey: .init(rootKey)
        )
        let intermediate = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: .init(issuerKey.publicKey),
            notValidBefore: begin,
            notValidAfter: Self.date(start.advanced(by: flaws.intermediateLifetime)),
            issuer: rootName,
            subject: issuerName,
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: try Self.extensions(
                flaws.intermediateIsAuthority ? .isCertificateAuthority(maxPathLength: 0) : .notCertificateAuthority,
                mark: flaws.marksIntermediate ? [1, 2, 840, 113635, 100, 6, 2, 1] : nil
            ),
            issuerPrivateKey: .init(rootKey)
        )
        let signer = try Certificate(
            version: .v3,
            serialNumber: .init(),
            publicKey: flaws.signerIsP384 ? .init(P384.Signing.PrivateKey().publicKey) : .init(key.publicKey),
            notValidBefore: begin,
            notValidAfter: Self.date(start.advanced(by: .seconds(365 * 86_400))),
            issuer: issuerName,
            subject: try Self.name("Test Receipt Signing"),
            signatureAlgorithm: .ecdsaWithSHA384,
            extensions: try Self.extensions(
                .notCertificateAuthority,
                mark: flaws.marksSigner ? [1, 2, 840, 113635, 100, 6, 11, 1] : nil
            ),
            issuerPrivateKey: .init(issuerKey)
        )
        (self.root, self.intermediate) = (try Self.der(root), try Self.der(intermediate))
        (self.signer, self.key, self.start) = (try Self.der(signer), key, start)
    }

    /// The root certificate in PEM.
    package var rootPEM: String {
        get throws { try Certificate(derEncoded: self.root).serializeAsPEM().pemString }
    }

    /// Returns a signed transaction of the vectors' app.
    /// - Parameter members: The members of the payload that differ; `null` leaves one out.
    package func transaction(_ members: [String: JSONValue] = [:]) throws -> String {
        try self.sign(try self.payload(members))
    }

    /// Returns a payload of the vectors' app, for a Non-Consumable.
    package func payload(_ members: [String: JSONValue] = [:]) throws -> Data {
        var payload: [String: JSONValue] = [
            "bundleId": .string(Vectors.bundleID), "productId": "com.example.issue7", "type": "Non-Consumable",
            "environment": "Production", "inAppOwnershipType": "PURCHASED", "transactionId": "2000000000000001",
            "purchaseDate": .integer(self.start.milliseconds - 3_600_000),
            "signedDate": .integer(self.start.milliseconds),
        ]
        payload.merge(members) { $1 }
        return try JSONValue.object(payload.filter { $0.value != .null }).text
    }

    /// Returns a JWS of a payload.
    /// - Parameters:
    ///   - chain: The certificates of the header; `nil` for those of this authority.
    ///   - header: The whole header; `nil` for the usual one.
    package func sign(_ payload: Data, chain: [[UInt8]]? = nil, header: String? = nil) throws -> String {
        let signed = "\(self.header(chain, header)).\(Base64URL.encode(payload))"
        let signature = try self.key.signature(for: Data(signed.utf8))
        return "\(signed).\(Base64URL.encode(signature.rawRepresentation))"
    }

    private func header(_ chain: [[UInt8]]?, _ header: String?) -> String {
        let chain = (chain ?? [self.signer, self.intermediate, self.root])
            .map { "\"\(Data($0).base64EncodedString())\"" }.joined(separator: ",")
        return Base64URL.encode((header ?? #"{"alg":"ES256","x5c":[\#(chain)]}"#).utf8)
    }

    private static func extensions(
        _ constraints: BasicConstraints,
        mark: ASN1ObjectIdentifier?
    ) throws -> Certificate.Extensions {
        var extensions = try Certificate.Extensions { Critical(constraints) }
        // The value is NULL, as in Apple's.
        if let mark { try extensions.append(.init(oid: mark, critical: false, value: [5, 0])) }
        return extensions
    }

    private static func name(_ text: String) throws -> DistinguishedName { try DistinguishedName { CommonName(text) } }

    private static func date(_ time: Timestamp) -> Date { Date(timeIntervalSince1970: Double(time.seconds)) }

    private static func der(_ certificate: Certificate) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }
}
