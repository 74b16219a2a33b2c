public import PushProtocol
import SwiftASN1
import X509

/// One entry of a push certificate's list of topics.
public struct CertificateTopic: Hashable, Sendable {
    public let topic: Topic
    /// What the topic is for, such as `app`, `voip` or `complication`.
    public let kinds: [String]

    public init(topic: Topic, kinds: [String]) {
        self.topic = topic
        self.kinds = kinds
    }
}

/// What the push service reads in a certificate (reference 2.2, table of OIDs).
struct CertificateDetails {
    let commonName: String?
    /// Attribute UID: the default topic.
    let userID: String?
    /// `nil` if there is no list or it is not as documented.
    let topics: [CertificateTopic]?
    let environments: Set<PushEnvironment>

    init(_ certificate: Certificate) {
        self.commonName = Self.text(.commonName, in: certificate.subject)
        self.userID = Self.text(.userID, in: certificate.subject)
        let extensions = certificate.extensions
        self.topics = extensions[oid: .pushTopics].flatMap { try? Self.topics(Array($0.value)) }
        var environments: Set<PushEnvironment> = []
        if extensions[oid: .pushSandbox] != nil { environments.insert(.sandbox) }
        if extensions[oid: .pushProduction] != nil { environments.insert(.production) }
        self.environments = environments.isEmpty ? Set(PushEnvironment.allCases) : environments
    }

    /// A sequence that alternates a topic and its kinds; what is no topic is left out.
    static func topics(_ der: [UInt8]) throws -> [CertificateTopic] {
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

    /// The value of the first attribute of this type that is text.
    private static func text(_ type: ASN1ObjectIdentifier, in name: DistinguishedName) -> String? {
        name.lazy.flatMap { $0 }.filter { $0.type == type }.compactMap { String($0.value) }.first
    }
}

extension ASN1ObjectIdentifier {
    fileprivate static let commonName: ASN1ObjectIdentifier = [2, 5, 4, 3]
    fileprivate static let userID: ASN1ObjectIdentifier = [0, 9, 2342, 19_200_300, 100, 1, 1]
    fileprivate static let pushSandbox: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 1]
    fileprivate static let pushProduction: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 2]
    fileprivate static let pushTopics: ASN1ObjectIdentifier = [1, 2, 840, 113635, 100, 6, 3, 6]
}
