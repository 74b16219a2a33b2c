import Foundation
import Hummingbird
import NIOSSL
import PushHTTP
package import PushSupport
import PushTypes

package enum AdminCertificateRequest {
    /// The kinds of private key that the gateway can generate.
    package enum KeyType: String, CaseIterable, Sendable {
        case rsa, p256
    }

    fileprivate static let topic = Member.topic("topic")
    fileprivate static let topics = Member.topics("topics", maximum: 100).described("Further topics.")
    fileprivate static let environments = Member.environments("environments").described("Default: both.")
    fileprivate static let keyType = Member.choice("keyType", of: KeyType.self, message: "key types are rsa and p256")
        .described("The key to make, for a request without csr. Default: rsa.")
    fileprivate static let passphrase = Member.text("passphrase", 1...128).described("The passphrase of the .p12.")

    package static let object = RequestObject(
        required: [Self.topic],
        optional: [Self.topics, Self.environments, Member.signingRequest, Self.keyType, Self.passphrase]
    )
}

/// The operations at `/v1/certificates`, which manage the certificates with which providers authenticate in TLS.
struct AdminCertificatesController: Controller {
    let registry: ProviderRegistry
    let authority: ProviderAuthority
    let time: any TimeSource

    /// The response with a newly issued certificate and, if the gateway generated it, its private key, which is not
    /// kept.
    private struct IssuedCertificateResponse: ResponseObject {
        let issued: ProviderAuthority.Issued
        /// An AES-encrypted `.p12` with the certificate and its key, in base64, or `nil` if the certificate is for the
        /// key of a signing request.
        let archive: String?

        static let members: [ResponseMember<Self>] = [
            .required("serial", \.issued.certificate.serial),
            .required("expiresAt", \.issued.certificate.expiresAt),
            .required("certificate", \.issued.certificatePEM, "In PEM."),
            .optional("privateKey", \.issued.privateKeyPEM, "PKCS#8 in PEM, in this response only."),
            .optional("p12", \.archive),
        ]
    }

    var operations: [AdminOperation] {
        let path = "/v1/certificates"
        return [
            .get(path, "listCertificates", "All provider certificates.", self.list).parameters(AdminPage.parameters),
            .post(path, "issueCertificate", "Issues a provider certificate.", self.issue)
                .body(.admin(AdminCertificateRequest.object)),
            .delete("\(path)/{serial}", "revokeCertificate", "Revokes a provider certificate.", self.revoke),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let certificates = self.registry.certificates(after: page.after, limit: page.fetch)
        return try page.response("certificates", certificates) { $0.serial }
    }

    private func issue(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(AdminCertificateRequest.object)
        let order = try Self.order(fields)
        let passphrase = try fields.value(AdminCertificateRequest.passphrase) ?? ""
        let issued: ProviderAuthority.Issued
        do {
            issued = try self.authority.issue(order, now: self.time.now)
        } catch ProviderAuthority.Failure.badSigningRequest {
            throw fields.error("csr", "invalid_csr", DeviceCertificateIssuer.signingRequestRule)
        }
        guard try await self.registry.add(certificate: issued.certificate) else {
            throw RequestError.full("certificates", ProviderRegistry.capacity)
        }
        let archive = try issued.archive(passphrase: passphrase).map { Data($0).base64EncodedString() }
        return try .json(IssuedCertificateResponse(issued: issued, archive: archive), status: .created)
    }

    /// Revokes a certificate. Connections that it authenticated are closed at their next request.
    private func revoke(_ request: OperationRequest) async throws -> Response {
        let serial = request.path("serial").lowercased()
        guard try await self.registry.revoke(certificate: serial, now: self.time.now) else {
            throw RequestError.noSuch("certificate", by: "serial number, or it was revoked", at: "serial")
        }
        return .noContent
    }

    /// Parses the description of a certificate to issue. If the body lists topics, the topic in the certificate's
    /// subject is added to them.
    private static func order(_ fields: JSONFields) throws -> ProviderAuthority.Order {
        let topic = try fields.required(AdminCertificateRequest.topic)
        var topics = try fields.value(AdminCertificateRequest.topics) ?? []
        if !topics.isEmpty, !topics.contains(topic) { topics.insert(topic, at: 0) }
        return ProviderAuthority.Order(
            topic: topic,
            topics: topics.map { CertificateTopic(topic: $0, kinds: [Self.kind(of: $0)]) },
            environments: try fields.value(AdminCertificateRequest.environments) ?? Set(PushEnvironment.allCases),
            key: try Self.key(fields)
        )
    }

    /// Returns the source of the key: the signing request in the body, or a new key of the requested kind, by default
    /// RSA.
    private static func key(_ fields: JSONFields) throws -> ProviderAuthority.KeySource {
        switch (try fields.value(Member.signingRequest), try fields.value(AdminCertificateRequest.keyType)) {
        case (let csr?, nil): return .signingRequest(csr)
        case (_?, _?): throw fields.error("keyType", "invalid_value", "a signing request has a key already")
        case (nil, nil), (nil, .rsa): return .newRSA
        case (nil, .p256): return .newP256
        }
    }

    /// Returns the kind of a topic as Apple lists it in a certificate: `app`, or the push type whose suffix the topic
    /// has, such as `voip`.
    private static func kind(of topic: Topic) -> String {
        TopicGrant(topic, isApp: false).suffixType?.rawValue ?? "app"
    }
}

extension ProviderAuthority.Issued {
    /// Returns a `.p12` that contains only the certificate and its private key, or `nil` if there is no private key.
    func archive(passphrase: String) throws -> [UInt8]? {
        guard let privateKeyPEM else { return nil }
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: [try NIOSSLCertificate(bytes: Array(self.certificatePEM.utf8), format: .pem)],
            privateKey: try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem)
        )
        return try bundle.serialize(passphrase: Array(passphrase.utf8))
    }
}

extension ProviderCertificate: ResponseObject {

    static let members: [ResponseMember<Self>] = [
        .required("serial", \.serial),
        .required("topic", \.topic),
        .required("topics", { $0.topics.map(\.name).sorted() }),
        .required("environments", { $0.environments.map(\.rawValue).sorted() }),
        .required("issuedAt", \.issuedAt),
        .required("expiresAt", \.expiresAt),
        .optional("revokedAt", \.revokedAt),
    ]
}
