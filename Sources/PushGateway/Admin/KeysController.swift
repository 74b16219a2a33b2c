import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `/v1/keys`: the keys that sign provider tokens.
struct KeysController: AdminRoutes {
    private static let members: Set<String> = [
        "teamId", "keyId", "key", "generate", "scope", "environment", "topics", "relatedKeyId",
    ]
    private static let identifierLength = 10

    let registry: ProviderRegistry
    let time: any TimeSource

    private struct Key: Encodable {
        var teamId: String
        var keyId: String
        var scope: String
        var environment: String?
        var topics: [String]?
        var relatedKeyId: String?
        /// Milliseconds since 1970.
        var revokedAt: Int64?
        /// The text of the `.p8` file, once, of a key that was made here.
        var privateKey: String?

        init(_ key: RegisteredKey, privateKey: String? = nil) {
            self.teamId = key.teamID
            self.keyId = key.keyID
            self.revokedAt = key.revokedAt?.milliseconds
            self.privateKey = privateKey
            switch key.scope {
            case .team: self.scope = "team"
            case .environment(let environment):
                self.scope = "environment"
                self.environment = environment.rawValue
            case .topics(let scope):
                self.scope = "topics"
                self.environment = scope.environment.rawValue
                self.topics = scope.topics.map(\.name).sorted()
                self.relatedKeyId = scope.relatedKeyID
            }
        }
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("keys", use: self.list).post("keys", use: self.add)
        group.delete("keys/:key", use: self.revoke)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let page = try AdminPage(request)
        return try page.answer("keys", self.registry.keys(after: page.after, limit: page.fetch)) { (Key($0), $0.keyID) }
    }

    @Sendable private func add(_ request: Request, _ context: AdminContext) async throws -> Response {
        let fields = try JSONFields(parsing: try await context.body(of: request), known: Self.members)
        let team = try fields.identifier("teamId")
        let material = try Self.material(fields)
        let key = RegisteredKey(
            teamID: team,
            keyID: try fields.optionalIdentifier("keyId") ?? material.keyID(fields),
            publicKey: material.publicKey,
            scope: try Self.scope(fields)
        )
        let answer = Key(key, privateKey: material.privateKey)
        switch try await self.registry.add(key: key) {
        case .added: return try JSONResponse.make(.created, answer)
        case .alreadyThere: return try JSONResponse.make(.ok, answer)
        case .conflict:
            throw RequestError(
                .conflict,
                code: "other_key",
                message: "another key, or one that was revoked, is registered under this key id",
                path: "keyId"
            )
        case .full: throw Self.full
        }
    }

    @Sendable private func revoke(_ request: Request, _ context: AdminContext) async throws -> Response {
        guard let keyID = context.parameters.get("key"),
            try await self.registry.revoke(key: keyID, now: self.time.now)
        else {
            throw RequestError(
                .notFound,
                code: "no_such_key",
                message: "there is no key with this id, or it was revoked",
                path: "key"
            )
        }
        return Response(status: .noContent)
    }

    private static var full: RequestError {
        RequestError(
            .conflict,
            code: "too_many",
            message:
                "a team has at most \(ProviderRegistry.maximumTeamScopedKeys) keys of scope environment and "
                + "\(ProviderRegistry.maximumTopicKeys) of scope topics in each environment, all together "
                + "\(ProviderRegistry.capacity)",
            path: "scope"
        )
    }
}

// MARK: Reading

extension KeysController {
    /// A key as given, or made here.
    private struct Material {
        /// X9.63.
        var publicKey: [UInt8]
        /// PEM, only of a key made here.
        var privateKey: String?

        /// For a key that was given, an id has to be given too.
        func keyID(_ fields: JSONFields) throws -> String {
            guard self.privateKey != nil else {
                throw fields.refusal("keyId", "missing_field", "this member is required with a key")
            }
            let characters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
            var generator = SystemRandomNumberGenerator()
            return String((0..<identifierLength).compactMap { _ in characters.randomElement(using: &generator) })
        }
    }

    private static func material(_ fields: JSONFields) throws -> Material {
        if try fields.bool("generate") == true {
            guard fields.members["key"] == nil else {
                throw fields.refusal("key", "invalid_value", "a key that is to be generated cannot be given")
            }
            let key = P256.Signing.PrivateKey()
            return Material(
                publicKey: Array(key.publicKey.x963Representation),
                privateKey: PEMText.file(key.pemRepresentation)
            )
        }
        let pem = try fields.requiredString("key", maximum: 16_384)
        guard let publicKey = Self.publicKey(pem: pem) else {
            throw fields.refusal(
                "key",
                "invalid_key",
                "the key must be P-256 in PEM: BEGIN PUBLIC KEY, or the text of a .p8 file"
            )
        }
        return Material(publicKey: publicKey)
    }

    /// Of a .p8 private key, only the public part is kept.
    private static func publicKey(pem: String) -> [UInt8]? {
        let key =
            (try? P256.Signing.PublicKey(pemRepresentation: pem))
            ?? (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey
        return key.map { Array($0.x963Representation) }
    }

    private static func scope(_ fields: JSONFields) throws -> RegisteredKey.Scope {
        let name = try fields.string("scope", maximum: 64) ?? "team"
        let environment = try fields.environment("environment")
        let topics = try fields.topics("topics", count: ProviderRegistry.maximumTopicsPerKey)
        let related = try fields.optionalIdentifier("relatedKeyId")
        if name != "topics", topics != nil || related != nil {
            throw fields.refusal("scope", "invalid_value", "topics and relatedKeyId belong to scope topics")
        }
        switch (name, environment) {
        case ("team", nil): return .team
        case ("team", _):
            throw fields.refusal("environment", "invalid_value", "a key of scope team serves both environments")
        case ("environment", let environment?): return .environment(environment)
        case ("topics", let environment?):
            guard let topics, !topics.isEmpty else {
                throw fields.refusal("topics", "missing_field", "this member is required with scope topics")
            }
            return .topics(.init(topics: Set(topics), environment: environment, relatedKeyID: related))
        case ("environment", nil), ("topics", nil):
            throw fields.refusal("environment", "missing_field", "this member is required with scope \(name)")
        default:
            throw fields.refusal("scope", "invalid_value", "scopes are team, environment and topics")
        }
    }
}
