import Foundation
import PushSender
import PushStore
import PushSupport
import PushTypes

/// The contents of a credential's files, for people and as JSON.
struct CredentialContentsText {
    private let contents: CredentialContents
    private let now: Timestamp

    init(_ contents: CredentialContents, now: Timestamp) { (self.contents, self.now) = (contents, now) }

    /// The reason for which nothing can be pushed with the files; `nil` if something can.
    var fault: String? {
        if self.contents.format == .signingKey { return nil }
        if self.contents.certificates.isEmpty { return "there is no certificate" }
        if self.contents.keys.isEmpty { return "there is no private key" }
        let pairs = self.contents.certificates.filter(\.hasKey)
        if pairs.isEmpty { return "the private key belongs to none of the certificates" }
        guard !pairs.contains(where: { $0.validFrom <= self.now && self.now <= $0.expires }) else { return nil }
        return pairs.allSatisfy { self.now < $0.validFrom }
            ? "the certificate is not valid yet" : "the certificate has expired"
    }

    var lines: [String] {
        var lines = ["format        \(self.contents.format.rawValue)"]
        if let keyID = self.contents.keyID { lines.append("key id        \(keyID)") }
        for key in self.contents.keys { lines.append("private key   \(key)") }
        for certificate in self.contents.certificates { lines += [""] + self.lines(of: certificate) }
        if let fault { lines += ["", "It cannot be pushed with: \(fault)."] }
        return lines
    }

    private func lines(of certificate: CredentialContents.CertificateEntry) -> [String] {
        let topics = certificate.topics.map { entry in
            entry.kinds.isEmpty ? entry.topic.name : "\(entry.topic.name) (\(entry.kinds.joined(separator: ", ")))"
        }
        let environments = certificate.environments?.map(\.rawValue).sorted().joined(separator: ", ")
        let state =
            self.now > certificate.expires ? ", expired" : self.now < certificate.validFrom ? ", not valid yet" : ""
        let rows: [(String, String)] = [
            ("certificate", certificate.commonName), ("issuer", certificate.issuer),
            ("topics", topics.joined(separator: ", ")), ("environments", environments ?? ""),
            ("valid from", certificate.validFrom.rfc3339), ("expires", certificate.expires.rfc3339 + state),
            ("its key", certificate.algorithm + (certificate.hasKey ? ", in the file" : ", not in the file")),
            ("SHA-256", certificate.fingerprint),
        ]
        return rows.filter { !$0.1.isEmpty }.map { name, value in
            "\(name.padding(toLength: 14, withPad: " ", startingAt: 0))\(value.printable)"
        }
    }

    var json: JSONValue {
        let certificates = self.contents.certificates.map { certificate in
            JSONValue.object([
                "commonName": .string(certificate.commonName), "issuer": .string(certificate.issuer),
                "topics": .array(certificate.topics.map { .string($0.topic.name) }),
                "environments": certificate.environments.map { names in
                    .array(names.map(\.rawValue).sorted().map(JSONValue.string))
                } ?? .null,
                "validFromMs": .integer(certificate.validFrom.milliseconds),
                "expiresAtMs": .integer(certificate.expires.milliseconds),
                "algorithm": .string(certificate.algorithm), "sha256": .string(certificate.fingerprint),
                "hasKey": .bool(certificate.hasKey),
            ])
        }
        return .object([
            "format": .string(self.contents.format.rawValue),
            "keyId": self.contents.keyID.map(JSONValue.string) ?? .null,
            "keys": .array(self.contents.keys.map(JSONValue.string)),
            "certificates": .array(certificates),
            "fault": self.fault.map(JSONValue.string) ?? .null,
        ])
    }
}
