package import PushTypes
package import SwiftASN1
package import X509

/// The parts of a provider's certificate that the push service evaluates (reference 2.2, table of OIDs).
package struct CertificateDetails: Sendable {
    /// The attribute CN of the subject.
    package let commonName: String?
    /// The attribute UID of the subject: the default topic.
    package let userID: String?
    /// The list of topics; `nil` if there is none, or it is malformed.
    package let topics: [CertificateTopic]?
    /// The environments that the certificate names, or both if it names none.
    package let environments: Set<PushEnvironment>
    /// Indicates whether the certificate names environments.
    package let namesEnvironments: Bool

    /// Reads the parts of a certificate in DER; `nil` for bytes that are none.
    package init?(derEncoded der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        self.init(certificate)
    }

    /// Reads the parts.
    package init(_ certificate: Certificate) {
        self.commonName = Self.text(.commonName, in: certificate.subject)
        self.userID = Self.text(.pushUserID, in: certificate.subject)
        let extensions = certificate.extensions
        self.topics = extensions[oid: .pushTopics].flatMap { try? CertificateTopic.list(derEncoded: Array($0.value)) }
        var environments: Set<PushEnvironment> = []
        if extensions[oid: .pushSandbox] != nil { environments.insert(.sandbox) }
        if extensions[oid: .pushProduction] != nil { environments.insert(.production) }
        self.namesEnvironments = !environments.isEmpty
        self.environments = environments.isEmpty ? Set(PushEnvironment.allCases) : environments
    }

    /// Returns the first attribute of this type that is text.
    private static func text(_ type: ASN1ObjectIdentifier, in name: DistinguishedName) -> String? {
        name.lazy.flatMap { $0 }.filter { $0.type == type }.compactMap { String($0.value) }.first
    }
}

extension ASN1ObjectIdentifier {
    /// The subject attribute CN.
    package static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    /// The subject attribute UID.
    package static let pushUserID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    /// The extension of certificates for the sandbox.
    package static let pushSandbox: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    /// The extension of certificates for production.
    package static let pushProduction: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    /// The extension with a list of topics.
    package static let pushTopics: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 6]
}
