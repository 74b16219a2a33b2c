package import PushTypes
import SwiftASN1

/// The value of the extension 1.2.840.113635.100.6.3.6: a sequence that alternates a topic and the sequence of its kinds,
/// all UTF8String (reference 2.2 and 8.10).
extension CertificateTopic {
    /// Decodes a list. Names that are not topics are left out.
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

    /// Encodes a list.
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
