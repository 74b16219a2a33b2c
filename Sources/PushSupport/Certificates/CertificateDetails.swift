package import PushTypes
package import SwiftASN1
package import X509

/// The fields of a provider's certificate that the push service evaluates (reference 2.2, table of OIDs).
package struct CertificateDetails: Sendable {
    /// The attribute CN of the subject, or `nil` if it has none.
    package let commonName: String?
    /// The attribute UID of the subject, which contains the default topic, or `nil` if it has none.
    package let userID: String?
    /// The topics of the extension with a list of topics, or `nil` if the extension is absent or malformed.
    package let topics: [CertificateTopic]?
    /// The environments for which the certificate is issued, or both environments if it names none.
    package let environments: Set<PushEnvironment>
    /// A Boolean value that indicates whether the certificate names ``environments``. If not, they are both.
    package let namesEnvironments: Bool

    /// Parses a certificate in DER, or returns `nil` for other bytes.
    package init?(derEncoded der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        self.init(certificate)
    }

    /// Reads the fields of a parsed certificate.
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

    /// Returns the value of the first attribute of this type that is a string, or `nil` if there is none.
    private static func text(_ type: ASN1ObjectIdentifier, in name: DistinguishedName) -> String? {
        name.lazy.flatMap { $0 }.filter { $0.type == type }.compactMap { String($0.value) }.first
    }
}

extension ASN1ObjectIdentifier {
    package static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    package static let pushUserID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    /// The extension that marks certificates for the sandbox.
    package static let pushSandbox: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    /// The extension that marks certificates for production.
    package static let pushProduction: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    /// The extension with a list of topics.
    package static let pushTopics: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 6]
}

/// The coding of the extension 1.2.840.113635.100.6.3.6: a sequence that alternates a topic and the sequence of its
/// kinds, all UTF8String (reference 2.2 and 8.10).
extension CertificateTopic {
    /// Decodes the value of the extension. Names that are not topics are left out.
    ///
    /// - Throws: An error of swift-asn1 for another structure.
    package static func list(derEncoded der: [UInt8]) throws -> [CertificateTopic] {
        try DER.sequence(DER.parse(der), identifier: .sequence) { nodes in
            var topics: [CertificateTopic] = []
            while let node = nodes.next() {
                let name = String(decoding: try ASN1UTF8String(derEncoded: node).bytes, as: UTF8.self)
                let kinds = try DER.sequence(of: ASN1UTF8String.self, identifier: .sequence, nodes: &nodes)
                guard let topic = Topic(name) else { continue }
                topics.append(
                    CertificateTopic(topic: topic, kinds: kinds.map { String(decoding: $0.bytes, as: UTF8.self) })
                )
            }
            return topics
        }
    }

    /// Encodes topics as the value of the extension.
    package static func derEncoded(_ topics: [CertificateTopic]) throws -> [UInt8] {
        var serializer = DER.Serializer()
        try serializer.appendConstructedNode(identifier: .sequence) { coder in
            for entry in topics {
                try coder.serialize(ASN1UTF8String(entry.topic.name))
                try coder.serializeSequenceOf(entry.kinds.map { ASN1UTF8String($0) })
            }
        }
        return serializer.serializedBytes
    }
}

/// Formats PEM text for files and API responses.
package enum PEMText {
    /// Returns the text with a final line break, without which another PEM text appended to it would not be recognized.
    package static func file(_ text: String) -> String { text.hasSuffix("\n") ? text : text + "\n" }
}
