import Foundation
package import PushSupport
package import PushTypes

/// The requests that set and test a credential.
package enum CredentialRequest {
    private enum Members {
        static let teamID = Member.text("teamId", maximum: 64, as: .string(length: 10...10))
        static let keyID = Member.text("keyId", maximum: 64, as: .string(length: 10...10))
        static let privateKey = Member.text("privateKey", 1...16 * 1024).described("The text of the .p8 file.")
        static let certificate = Member.text("certificate", 1...64 * 1024).described("PEM, with the key.")
        static let p12 = Member.text("p12", 1...256 * 1024).described("The archive in base64.")
        static let passphrase = Member.text("passphrase", 1...1024)
        static let transport = Member.choice("transport", of: PushTransport.self)
            .described("The protocol of pushes with it. Default http2.")
    }

    /// The bodies that set a credential: one each for a token key, a PEM certificate, and a PKCS #12 archive.
    private static let kinds = [
        RequestObject(required: [Members.teamID, Members.keyID, Members.privateKey]),
        RequestObject(required: [Members.certificate], optional: [Members.passphrase, Members.transport]),
        RequestObject(required: [Members.p12], optional: [Members.passphrase, Members.transport]),
    ]

    package static let object = RequestObject(
        optional: [
            Members.teamID, Members.keyID, Members.privateKey, Members.certificate, Members.p12, Members.passphrase,
            Members.transport,
        ]
    ) { _ in Schema.any(of: Self.kinds.map { $0.schema }).named("CredentialRequest") }

    package static let test = RequestObject(optional: Self.object.members) { _ in
        Schema.any(of: [RequestObject().schema] + Self.kinds.map { $0.schema }).named("CredentialTestRequest")
    }

    /// Returns the transport protocol that a request names, or HTTP/2 if it names none.
    package static func transport(_ fields: JSONFields) throws(RequestError) -> PushTransport {
        try fields.value(Members.transport) ?? .http2
    }

    /// Returns the credential in a request. A request holds a credential of exactly one kind.
    ///
    /// - Throws: ``RequestError`` with the code `conflicting_field` for a member of another kind.
    package static func record(_ fields: JSONFields) throws(RequestError) -> CredentialRecord {
        // The members tell the kind. A token key has no optional members.
        let isCertificate = fields.members["certificate"] != nil || fields.members["p12"] != nil
        if let name = fields.nulls.subtracting(isCertificate ? ["passphrase", "transport"] : []).sorted().first {
            throw fields.error(name, "invalid_value", "leave it out instead of null")
        }
        for kind in ["certificate", "p12"] where fields.members[kind] != nil {
            for name in fields.members.keys.sorted() where name != kind && !["passphrase", "transport"].contains(name) {
                throw fields.error(name, "conflicting_field", "it does not belong to \(kind)")
            }
        }
        let passphrase = try fields.value(Members.passphrase)
        if let pem = try fields.value(Members.certificate) {
            return .certificate(pem: pem, passphrase: passphrase)
        }
        if let text = try fields.value(Members.p12) {
            guard let archive = Data(base64Encoded: text, options: .ignoreUnknownCharacters), !archive.isEmpty else {
                throw fields.error("p12", "invalid_value", "write the archive's bytes in base64")
            }
            return .archive(p12: Array(archive), passphrase: passphrase)
        }
        for name in ["passphrase", "transport"] where fields.members[name] != nil {
            throw fields.error(name, "conflicting_field", "it belongs to certificate or p12")
        }
        return .key(
            teamID: try fields.required(Members.teamID),
            keyID: try fields.required(Members.keyID),
            privateKey: try fields.required(Members.privateKey)
        )
    }
}

extension CredentialRecord {
    /// The name of the credential's kind in the API.
    package var kind: String {
        switch self {
        case .key: "key"
        case .certificate: "certificate"
        case .archive: "p12"
        }
    }
}
