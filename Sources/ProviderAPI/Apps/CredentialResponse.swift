package import PushHTTP
import PushProvider
import PushSender
import PushStore
import PushSupport
package import PushTypes

/// A credential in a response, without its secret.
package struct CredentialResponse: ResponseObject {
    let record: CredentialRecord
    let transport: PushTransport
    package let environment: PushEnvironment
    /// The credential as a sender uses it.
    private let credential: Result<PushCredential, CredentialError>

    init(_ record: CredentialRecord, over transport: PushTransport, environment: PushEnvironment) {
        (self.record, self.transport, self.environment) = (record, transport, environment)
        self.credential = Result { () throws(CredentialError) in try record.credential() }
    }

    private var certificate: ClientCertificate? {
        if case .success(.certificate(let certificate)) = self.credential { certificate } else { nil }
    }
    /// The reason for which the credential cannot be used.
    private var fault: String? { if case .failure(let error) = self.credential { error.description } else { nil } }
    /// The ids of the team and of the key; `nil` for a certificate.
    private var key: (team: String, id: String)? {
        guard case .key(let team, let id, _) = self.record else { return nil }
        return (team, id)
    }
    package var kind: String { self.record.kind }
    package var topics: [String]? { self.certificate?.topics.map(\.topic.name) }
    /// The end of a certificate.
    package var expires: Timestamp? { self.certificate?.expires }

    package static let schemaName: String? = "Credential"
    package static let members: [ResponseMember<Self>] = [
        .required("environment", \.environment),
        .required("kind", \.kind, as: .choice(["key", "certificate", "p12"])),
        .required("transport", \.transport, "The protocol of pushes with it."),
        .optional("teamId", \.key?.team),
        .optional("keyId", \.key?.id),
        .optional("subject", \.certificate?.commonName),
        .optional("topics", \.topics),
        .optional("validFromMs", \.certificate?.validFrom),
        .optional("expiresAtMs", \.expires),
        .optional("fault", \.fault, "The reason for which it cannot be used."),
    ]
}

extension CredentialRecord {
    /// The kind of the credential in the API.
    var kind: String {
        switch self {
        case .key: "key"
        case .certificate: "certificate"
        case .archive: "p12"
        }
    }
}

extension PushTransport: JSONRepresentable {}
