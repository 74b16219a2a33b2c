import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/keys`: the public keys of provider tokens.
struct AdminKeysController: Controller {
    /// The members of a key that is added.
    private static let members: Set<String> = [
        "teamId", "keyId", "key", "generate", "scope", "environment", "topics", "relatedKeyId",
    ]
    /// The length of a generated key id.
    private static let identifierLength = 10

    let registry: ProviderRegistry
    let time: any TimeSource

    /// A key in a response.
    private struct KeyResponse: ResponseObject {
        let key: RegisteredKey
        /// The text of the `.p8` file of a generated key, in this response only.
        var privateKey: String?

        private var topics: [String]? { self.key.scope.topics?.topics.map(\.name).sorted() }

        static let members: [ResponseMember<Self>] = [
            .required("teamId", \.key.teamID),
            .required("keyId", \.key.keyID),
            .required("scope", \.key.scope.name),
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
            .post("/v1/keys", "addKey", "Registers a key, or generates one.", self.add).body(.admin),
            .delete("/v1/keys/{key}", "revokeKey", "Revokes a key.", self.revoke),
        ]
    }

    /// Responds with a page of the keys, revoked ones too, in the order of their ids.
    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let keys = self.registry.keys(after: page.after, limit: page.fetch).map { KeyResponse(key: $0) }
        return try page.response("keys", keys) { $0.key.keyID }
    }

    /// Registers a key. It responds with 200 for one that is registered already.
    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(Self.members)
        let team = try fields.identifier("teamId")
        let material = try Self.material(fields)
        let key = RegisteredKey(
            teamID: team,
            keyID: try fields.optionalIdentifier("keyId") ?? material.keyID(fields),
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

    /// Revokes a key. Its id cannot be used again.
    private func revoke(_ request: OperationRequest) async throws -> Response {
        guard try await self.registry.revoke(key: request.path("key"), now: self.time.now) else {
            throw RequestError.noSuch("key", by: "id, or it was revoked")
        }
        return .noContent
    }

    /// The error for a team that has all the keys that Apple allows (reference 2.1).
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
    /// A key that was given or generated.
    private struct Material {
        /// In X9.63 format.
        var publicKey: [UInt8]
        /// In PEM; `nil` for a key that was given.
        var privateKey: String?

        /// Returns an id for a generated key; a given key needs a given id.
        func keyID(_ fields: JSONFields) throws -> String {
            guard self.privateKey != nil else {
                throw fields.error("keyId", "missing_field", "this member is required with a key")
            }
            let characters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
            var generator = SystemRandomNumberGenerator()
            return String((0..<identifierLength).compactMap { _ in characters.randomElement(using: &generator) })
        }
    }

    /// Returns the key of the member `key`, or generates one.
    private static func material(_ fields: JSONFields) throws -> Material {
        if try fields.bool("generate") == true {
            guard fields.members["key"] == nil else {
                throw fields.error("key", "invalid_value", "a key that is to be generated cannot be given")
            }
            let key = P256.Signing.PrivateKey()
            return Material(
                publicKey: Array(key.publicKey.x963Representation),
                privateKey: PEMText.file(key.pemRepresentation)
            )
        }
        let pem = try fields.requiredString("key", maximum: 16_384)
        guard let publicKey = Self.publicKey(pem: pem) else {
            let message = "the key must be P-256 in PEM: BEGIN PUBLIC KEY, or the text of a .p8 file"
            throw fields.error("key", "invalid_key", message)
        }
        return Material(publicKey: publicKey)
    }

    /// Parses a public key, or a `.p8` private key of which only the public part is kept.
    private static func publicKey(pem: String) -> [UInt8]? {
        let key =
            (try? P256.Signing.PublicKey(pemRepresentation: pem))
            ?? (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey
        return key.map { Array($0.x963Representation) }
    }

    /// Returns the scope of a key. Members that do not belong to it are errors.
    private static func scope(_ fields: JSONFields) throws -> RegisteredKey.Scope {
        let name = try fields.string("scope", maximum: 64) ?? "team"
        let environment = try fields.environment("environment")
        let topics = try fields.topics("topics", count: ProviderRegistry.maximumTopicsPerKey)
        let related = try fields.optionalIdentifier("relatedKeyId")
        if name != "topics", topics != nil || related != nil {
            throw fields.error("scope", "invalid_value", "topics and relatedKeyId belong to scope topics")
        }
        switch (name, environment) {
        case ("team", nil): return .team
        case ("team", _):
            throw fields.error("environment", "invalid_value", "a key of scope team serves both environments")
        case ("environment", let environment?): return .environment(environment)
        case ("topics", let environment?):
            guard let topics, !topics.isEmpty else {
                throw fields.error("topics", "missing_field", "this member is required with scope topics")
            }
            return .topics(.init(topics: Set(topics), environment: environment, relatedKeyID: related))
        case ("environment", nil), ("topics", nil):
            throw fields.error("environment", "missing_field", "this member is required with scope \(name)")
        default:
            throw fields.error("scope", "invalid_value", "scopes are team, environment and topics")
        }
    }
}

/// `/v1/token-keys`: the keys that encrypt device tokens.
struct AdminTokenKeysController: Controller {
    let minter: TokenMinter
    let directory: SharedDataDirectory

    var operations: [AdminOperation] {
        let summary = "Creates a key that encrypts device tokens from now on."
        return [.post("/v1/token-keys", "rotateTokenKey", summary, self.rotate)]
    }

    /// Creates a key. Tokens of earlier keys stay valid until their device has requested new ones.
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
