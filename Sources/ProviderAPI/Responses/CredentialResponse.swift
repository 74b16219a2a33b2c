import PushProvider
import PushSender
import PushStore
import PushTypes

/// What may be shown of a credential.
struct CredentialResponse: Encodable {
    var environment: String
    var kind: String
    var teamId: String?
    var keyId: String?
    /// Common name of the certificate.
    var subject: String?
    var topics: [String]?
    var validFromMs: Int64?
    var expiresAtMs: Int64?
    /// Why it cannot be used, if so.
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
            "validFromMs": .moment, "expiresAtMs": .moment,
            "fault": .string().described("Why it cannot be used, if so."),
        ]
    ).named("Credential")
}
