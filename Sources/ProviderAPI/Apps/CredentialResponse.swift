import PushHTTP
import PushProvider
import PushSender
import PushStore
import PushTypes

/// A credential in a response, without its secret.
struct CredentialResponse: Encodable {
    var environment: String
    var kind: String
    var teamId: String?
    var keyId: String?
    /// The common name of the certificate.
    var subject: String?
    var topics: [String]?
    var validFromMs: Int64?
    var expiresAtMs: Int64?
    /// The reason for which the credential cannot be used.
    var fault: String?

    init(_ record: CredentialRecord, environment: PushEnvironment) {
        self.environment = environment.rawValue
        switch record {
        case .key(let teamID, let keyID, _):
            (self.kind, self.teamId, self.keyId) = ("key", teamID, keyID)
        case .certificate: self.kind = "certificate"
        case .archive: self.kind = "p12"
        }
        do {
            guard case .certificate(let certificate) = try record.credential() else { return }
            self.subject = certificate.commonName
            self.topics = certificate.topics.map(\.topic.name)
            self.validFromMs = certificate.validFrom.milliseconds
            self.expiresAtMs = certificate.expires.milliseconds
        } catch {
            self.fault = error.description
        }
    }

    static let schema = Schema.object(
        required: ["environment": .environment, "kind": .choice(["key", "certificate", "p12"])],
        optional: [
            "teamId": .string(), "keyId": .string(), "subject": .string(), "topics": .array(of: .string()),
            "validFromMs": .timestamp, "expiresAtMs": .timestamp,
            "fault": .string().described("The reason for which it cannot be used."),
        ]
    ).named("Credential")
}
