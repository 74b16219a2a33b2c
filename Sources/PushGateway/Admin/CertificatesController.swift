import Foundation
import HTTPTypes
import Hummingbird
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/certificates`: what makes a provider known in the TLS handshake.
struct CertificatesController: AdminRoutes {
    private static let members: Set<String> = ["topic", "topics", "environments", "csr", "keyType", "passphrase"]
    private static let maximumTopics = 100

    let registry: ProviderRegistry
    let authority: ProviderAuthority
    let time: any TimeSource

    private struct Entry: Encodable {
        var serial: String
        var topic: String
        var topics: [String]
        var environments: [String]
        /// Milliseconds since 1970, as the next two.
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

    private struct Issued: Encodable {
        var serial: String
        var expiresAt: Int64
        /// PEM.
        var certificate: String
        /// PKCS#8 in PEM, once; not for a key that the caller holds.
        var privateKey: String?
        /// base64 of a `.p12` with both, encrypted with AES.
        var p12: String?
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("certificates", use: self.list).post("certificates", use: self.issue)
        group.delete("certificates/:serial", use: self.revoke)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let page = try AdminPage(request)
        let certificates = self.registry.certificates(after: page.after, limit: page.fetch)
        return try page.answer("certificates", certificates) { (Entry($0), $0.serial) }
    }

    @Sendable private func issue(_ request: Request, _ context: AdminContext) async throws -> Response {
        let fields = try JSONFields(parsing: try await context.body(of: request), known: Self.members)
        let order = try Self.order(fields)
        let passphrase = try fields.string("passphrase", maximum: 128) ?? ""
        let issued: ProviderAuthority.Issued
        do {
            issued = try self.authority.issue(order, now: self.time.now)
        } catch ProviderAuthority.Failure.badSigningRequest {
            throw fields.refusal(
                "csr",
                "invalid_csr",
                "the signing request must be PKCS#10 in PEM, signed by its own key"
            )
        }
        guard try await self.registry.add(certificate: issued.certificate) else {
            throw AdminErrors.full("certificates", ProviderRegistry.capacity)
        }
        return try JSONResponse.make(
            .created,
            Issued(
                serial: issued.certificate.serial,
                expiresAt: issued.certificate.expiresAt.milliseconds,
                certificate: issued.certificatePEM,
                privateKey: issued.privateKeyPEM,
                p12: try issued.archive(passphrase: passphrase).map { Data($0).base64EncodedString() }
            )
        )
    }

    @Sendable private func revoke(_ request: Request, _ context: AdminContext) async throws -> Response {
        guard let serial = context.parameters.get("serial"),
            try await self.registry.revoke(certificate: serial.lowercased(), now: self.time.now)
        else {
            throw RequestError(
                .notFound,
                code: "no_such_certificate",
                message: "there is no certificate with this serial number, or it was revoked",
                path: "serial"
            )
        }
        return Response(status: .noContent)
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
            throw fields.refusal("keyType", "invalid_value", "the key of a signing request is made already")
        case (nil, nil), (nil, "rsa"): return .newRSA
        case (nil, "p256"): return .newP256
        default: throw fields.refusal("keyType", "invalid_value", "key types are rsa and p256")
        }
    }

    /// What Apple writes beside a topic: `app`, or the word that its suffix stands for.
    private static func kind(of topic: Topic) -> String {
        TopicGrant(topic, isApp: false).suffixType?.rawValue ?? "app"
    }
}

extension ProviderAuthority.Issued {
    /// A `.p12` with the certificate and its key, and nothing else; `nil` without the key.
    func archive(passphrase: String) throws -> [UInt8]? {
        guard let privateKeyPEM else { return nil }
        let bundle = NIOSSLPKCS12Bundle(
            certificateChain: [try NIOSSLCertificate(bytes: Array(self.certificatePEM.utf8), format: .pem)],
            privateKey: try NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem)
        )
        return try bundle.serialize(passphrase: Array(passphrase.utf8))
    }
}
