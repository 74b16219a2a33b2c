import Crypto
import Hummingbird
import PushHTTP
package import PushSupport
import PushTypes

/// The JSON members of a request to register or generate a provider key.
package enum AdminKeyRequest {
    fileprivate static let team = Member.identifier("teamId")
    fileprivate static let keyID = Member.identifier("keyId")
    fileprivate static let key = Member.text("key", 1...16_384)
        .described("In PEM: a public key, or the text of a .p8 file, of which only the public part is kept.")
    fileprivate static let generate = Member.bool("generate").described("Makes the key, in place of key.")
    fileprivate static let scope = Member.choice(
        "scope",
        of: KeyScopeName.self,
        message: "scopes are team, environment and topics"
    ).described("Default: team.")
    fileprivate static let environment = Member.environment("environment")
    fileprivate static let topics = Member.topics("topics", maximum: ProviderRegistry.maximumTopicsPerKey)
    fileprivate static let related = Member.identifier("relatedKeyId")

    package static let object = RequestObject(
        required: [Self.team],
        optional: [Self.keyID, Self.key, Self.generate, Self.scope, Self.environment, Self.topics, Self.related]
    ) { $0.requiringOne(of: "key", "generate") }
}

/// The operations at `/v1/keys`, which manage the public keys of provider tokens.
struct AdminKeysController: Controller {
    /// The length of a generated key id, in characters.
    private static let identifierLength = 10

    let registry: ProviderRegistry
    let time: any TimeSource

    private struct KeyResponse: ResponseObject {
        let key: RegisteredKey
        /// The generated private key in `.p8` format, which no later response contains, or `nil` for a key from the
        /// request.
        var privateKey: String?

        private var topics: [String]? { self.key.scope.topics?.topics.map(\.name).sorted() }

        static let members: [ResponseMember<Self>] = [
            .required("teamId", \.key.teamID),
            .required("keyId", \.key.keyID),
            .required("scope", \.key.scope.name.rawValue),
            .optional("environment", \.key.scope.environment),
            .optional("topics", \.topics),
            .optional("relatedKeyId", \.key.scope.topics?.relatedKeyID),
            .optional("revokedAt", \.key.revokedAt),
            .optional("privateKey", \.privateKey),
        ]
    }

    var operations: [AdminOperation] {
        [
            .get("/v1/keys", "listKeys", "All keys.", self.list).parameters(AdminPage.parameters),
            .post("/v1/keys", "addKey", "Registers a key, or generates one.", self.add)
                .body(.admin(AdminKeyRequest.object)),
            .delete("/v1/keys/{key}", "revokeKey", "Revokes a key.", self.revoke),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let keys = self.registry.keys(after: page.after, limit: page.fetch).map { KeyResponse(key: $0) }
        return try page.response("keys", keys) { $0.key.keyID }
    }

    /// Registers a key, or generates one. Responds with status 200 for a key that is registered already.
    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(AdminKeyRequest.object)
        let team = try fields.required(AdminKeyRequest.team)
        let material = try Self.material(fields)
        let key = RegisteredKey(
            teamID: team,
            keyID: try fields.value(AdminKeyRequest.keyID) ?? material.keyID(fields),
            publicKey: material.publicKey,
            scope: try Self.scope(fields)
        )
        let response = KeyResponse(key: key, privateKey: material.privateKey)
        switch try await self.registry.add(key: key) {
        case .added: return try .json(response, status: .created)
        case .alreadyThere: return try .json(response)
        case .conflict:
            let message = "another key, or a revoked one, is registered with this key id"
            throw RequestError.conflict("other_key", message, at: "keyId")
        case .full: throw Self.full
        }
    }

    private func revoke(_ request: OperationRequest) async throws -> Response {
        guard try await self.registry.revoke(key: request.path("key"), now: self.time.now) else {
            throw RequestError.noSuch("key", by: "id, or it was revoked")
        }
        return .noContent
    }

    /// The error for a team that has reached Apple's maximum number of keys (reference 2.1).
    private static var full: RequestError {
        .conflict(
            "too_many",
            "a team has at most \(ProviderRegistry.maximumTeamScopedKeys) keys of scope environment and "
                + "\(ProviderRegistry.maximumTopicKeys) of scope topics in each environment, and all teams together "
                + "\(ProviderRegistry.capacity)",
            at: "scope"
        )
    }
}

// MARK: Reading

extension AdminKeysController {
    /// A key from the request, or one that the gateway has generated.
    private struct Material {
        /// The public key in X9.63 format.
        var publicKey: [UInt8]
        /// The generated private key in PEM, or `nil` for a key from the request.
        var privateKey: String?

        /// Generates the id for a generated key. Throws ``RequestError`` for a key from the request, for which the
        /// member `keyId` is required.
        func keyID(_ fields: JSONFields) throws -> String {
            guard self.privateKey != nil else {
                throw fields.error("keyId", "missing_field", "this member is required with a key")
            }
            let characters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
            var generator = SystemRandomNumberGenerator()
            return String((0..<identifierLength).compactMap { _ in characters.randomElement(using: &generator) })
        }
    }

    private static func material(_ fields: JSONFields) throws -> Material {
        if try fields.value(AdminKeyRequest.generate) == true {
            guard fields.members["key"] == nil else {
                throw fields.error("key", "invalid_value", "a key that is to be generated cannot be given")
            }
            let key = P256.Signing.PrivateKey()
            return Material(
                publicKey: Array(key.publicKey.x963Representation),
                privateKey: PEMText.file(key.pemRepresentation)
            )
        }
        let pem = try fields.required(AdminKeyRequest.key)
        guard let publicKey = Self.publicKey(pem: pem) else {
            let message = "the key must be P-256 in PEM: BEGIN PUBLIC KEY, or the text of a .p8 file"
            throw fields.error("key", "invalid_key", message)
        }
        return Material(publicKey: publicKey)
    }

    /// Parses a public key, or a `.p8` private key, of which only the public key is used. Returns `nil` for any other
    /// text.
    private static func publicKey(pem: String) -> [UInt8]? {
        let key =
            (try? P256.Signing.PublicKey(pemRepresentation: pem))
            ?? (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey
        return key.map { Array($0.x963Representation) }
    }

    /// Parses the scope of a key. The default is all topics of the team. Members that do not apply to the scope are
    /// errors.
    private static func scope(_ fields: JSONFields) throws -> RegisteredKey.Scope {
        let name = try fields.value(AdminKeyRequest.scope) ?? .team
        let environment = try fields.value(AdminKeyRequest.environment)
        let topics = try fields.value(AdminKeyRequest.topics)
        let related = try fields.value(AdminKeyRequest.related)
        if name != .topics, topics != nil || related != nil {
            throw fields.error("scope", "invalid_value", "topics and relatedKeyId belong to scope topics")
        }
        switch (name, environment) {
        case (.team, nil): return .team
        case (.team, _?):
            throw fields.error("environment", "invalid_value", "a key of scope team serves both environments")
        case (.environment, let environment?): return .environment(environment)
        case (.topics, let environment?):
            guard let topics, !topics.isEmpty else {
                throw fields.error("topics", "missing_field", "this member is required with scope topics")
            }
            return .topics(.init(topics: Set(topics), environment: environment, relatedKeyID: related))
        case (.environment, nil), (.topics, nil):
            throw fields.error("environment", "missing_field", "this member is required with scope \(name.rawValue)")
        }
    }
}

/// The operations at `/v1/token-keys`, which manage the keys that encrypt device tokens.
struct AdminTokenKeysController: Controller {
    let minter: TokenMinter
    let directory: SharedDataDirectory

    var operations: [AdminOperation] {
        let summary = "Creates a key that encrypts device tokens from now on."
        return [.post("/v1/token-keys", "rotateTokenKey", summary, self.rotate)]
    }

    /// Creates a token key. Tokens that earlier keys encrypted stay valid until their devices have requested new ones.
    private func rotate(_ request: OperationRequest) async throws -> Response {
        let id: UInt8? = try self.directory.use { directory in
            let count = Int(self.minter.currentKeyID)
            guard count < TokenMinter.maximumKeys else { return nil }
            return self.minter.rotate(to: try TokenKeyFiles.makeNext(after: count, in: directory))
                ? self.minter.currentKeyID : nil
        }
        guard let id else {
            let message = "there are at most \(TokenMinter.maximumKeys) token keys"
            throw RequestError.conflict("too_many_token_keys", message)
        }
        return try .json(["tokenKeyId": id], status: .created)
    }
}
