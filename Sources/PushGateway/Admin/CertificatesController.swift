import Foundation
import HTTPTypes
import Hummingbird
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/certificates`: the certificates by which providers authenticate in the TLS handshake.
struct CertificatesController: Controller {
    private static let members: Set<String> = ["topic", "topics", "environments", "csr", "keyType", "passphrase"]
    private static let maximumTopics = 100

    let registry: ProviderRegistry
    let authority: ProviderAuthority
    let time: any TimeSource

    /// A certificate in a list.
    private struct Entry: Encodable {
        var serial: String
        var topic: String
        var topics: [String]
        var environments: [String]
        /// In milliseconds since 1970, as the next two.
        var issuedAt: Int64
        var expiresAt: Int64
        var revokedAt: Int64?

        init(_ certificate: ProviderCertificate) {
            self.serial = certificate.serial
            self.topic = certificate.topic.name
            self.topics = certificate.topics.map(\.name).sorted()
            self.environments = certificate.environments.map(\.rawValue).sorted()
            self.issuedAt = certificate.issuedAt.milliseconds
            self.expiresAt = certificate.expiresAt.milliseconds
            self.revokedAt = certificate.revokedAt?.milliseconds
        }
    }

    /// A certificate that was just issued.
    private struct Issued: Encodable {
        var serial: String
        var expiresAt: Int64
        /// In PEM.
        var certificate: String
        /// The key as PKCS#8 in PEM, in this response only; `nil` for a key that the caller holds.
        var privateKey: String?
        /// A `.p12` with both in base64, encrypted with AES.
        var p12: String?
    }

    var operations: [AdminOperation] {
        [
            .init(.get, "/v1/certificates", id: "listCertificates", "All provider certificates.", self.list)
                .parameters(AdminPage.parameters),
            .init(
                .post,
                "/v1/certificates",
                .unaudited,
                id: "issueCertificate",
                "Issues a provider certificate.",
                self.issue
            )
            .body(.admin),
            .init(
                .delete,
                "/v1/certificates/{serial}",
                .unaudited,
                id: "revokeCertificate",
                "Revokes a provider certificate.",
                self.revoke
            ),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let certificates = self.registry.certificates(after: page.after, limit: page.fetch)
        return try page.response("certificates", certificates) { (Entry($0), $0.serial) }
    }

    private func issue(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(Self.members)
        let order = try Self.order(fields)
        let passphrase = try fields.string("passphrase", maximum: 128) ?? ""
        let issued: ProviderAuthority.Issued
        do {
            issued = try self.authority.issue(order, now: self.time.now)
        } catch ProviderAuthority.Failure.badSigningRequest {
            throw fields.error(
                "csr",
                "invalid_csr",
                "the signing request must be PKCS#10 in PEM, signed by its own key"
            )
        }
        guard try await self.registry.add(certificate: issued.certificate) else {
            throw RequestError.full("certificates", ProviderRegistry.capacity)
        }
        return try .json(
            Issued(
                serial: issued.certificate.serial,
                expiresAt: issued.certificate.expiresAt.milliseconds,
                certificate: issued.certificatePEM,
                privateKey: issued.privateKeyPEM,
                p12: try issued.archive(passphrase: passphrase).map { Data($0).base64EncodedString() }
            ),
            status: .created
        )
    }

    private func revoke(_ request: OperationRequest) async throws -> Response {
        let serial = request.path("serial").lowercased()
        guard try await self.registry.revoke(certificate: serial, now: self.time.now) else {
            throw RequestError.noSuch("certificate", by: "serial number, or it was revoked", at: "serial")
        }
        return .noContent
    }

    private static func order(_ fields: JSONFields) throws -> ProviderAuthority.Order {
        let topic = try fields.topic("topic")
        var topics = try fields.topics("topics", count: Self.maximumTopics) ?? []
        if !topics.isEmpty, !topics.contains(topic) { topics.insert(topic, at: 0) }
        return ProviderAuthority.Order(
            topic: topic,
            topics: topics.map { CertificateTopic(topic: $0, kinds: [Self.kind(of: $0)]) },
            environments: try fields.environments("environments") ?? Set(PushEnvironment.allCases),
            key: try Self.key(fields)
        )
    }

    private static func key(_ fields: JSONFields) throws -> ProviderAuthority.KeySource {
        let csr = try fields.string("csr", maximum: 16_384)
        switch (csr, try fields.string("keyType", maximum: 64)) {
        case (let csr?, nil): return .signingRequest(csr)
        case (_?, _):
            throw fields.error("keyType", "invalid_value", "a signing request has a key already")
        case (nil, nil), (nil, "rsa"): return .newRSA
        case (nil, "p256"): return .newP256
        default: throw fields.error("keyType", "invalid_value", "key types are rsa and p256")
        }
    }

    /// Returns the kind that Apple writes beside a topic: `app`, or the type of its suffix.
    private static func kind(of topic: Topic) -> String {
        TopicGrant(topic, isApp: false).suffixType?.rawValue ?? "app"
    }
}

extension ProviderAuthority.Issued {
    /// Returns a `.p12` with the certificate and its key only; `nil` without the key.
    func archive(passphrase: String) throws -> [UInt8]? {
        guard let privateKeyPEM else { return nil }
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: [try NIOSSLCertificate(bytes: Array(self.certificatePEM.utf8), format: .pem)],
            privateKey: try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem)
        )
        return try bundle.serialize(passphrase: Array(passphrase.utf8))
    }
}
