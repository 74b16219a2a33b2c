package import PushTypes
package import SwiftASN1
package import X509

/// What the push service reads in a provider's certificate (reference 2.2, table of OIDs).
package struct CertificateDetails: Sendable {
    package let commonName: String?
    /// Attribute UID: the default topic.
    package let userID: String?
    /// `nil` if there is no list or it is not as documented.
    package let topics: [CertificateTopic]?
    /// Both, if the certificate names none.
    package let environments: Set<PushEnvironment>

    package init(_ certificate: Certificate) {
        self.commonName = Self.text(.commonName, in: certificate.subject)
        self.userID = Self.text(.pushUserID, in: certificate.subject)
        let extensions = certificate.extensions
        self.topics = extensions[oid: .pushTopics].flatMap { try? CertificateTopic.list(derEncoded: Array($0.value)) }
        var environments: Set<PushEnvironment> = []
        if extensions[oid: .pushSandbox] != nil { environments.insert(.sandbox) }
        if extensions[oid: .pushProduction] != nil { environments.insert(.production) }
        self.environments = environments.isEmpty ? Set(PushEnvironment.allCases) : environments
    }

    /// The value of the first attribute of this type that is text.
    private static func text(_ type: ASN1ObjectIdentifier, in name: DistinguishedName) -> String? {
        name.lazy.flatMap { $0 }.filter { $0.type == type }.compactMap { String($0.value) }.first
    }
}

extension ASN1ObjectIdentifier {
    package static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    /// Subject attribute UID.
    package static let pushUserID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    package static let pushSandbox: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    package static let pushProduction: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    package static let pushTopics: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 6]
}
