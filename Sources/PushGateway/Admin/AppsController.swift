import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol

/// `/v1/apps` and `/v1/keys`: what may be pushed to, and by whom.
struct AppsController: Sendable {
    let registry: ProviderRegistry

    private struct App: Codable {
        var teamId: String
        var bundleId: String
    }

    private struct Key: Encodable {
        var teamId: String
        var keyId: String
    }

    private struct NewKey: Decodable {
        var teamId: String
        var keyId: String
        /// PEM: a public key, or a .p8 private key, of which only the public part is kept.
        var key: String
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("apps", use: self.listApps).post("apps", use: self.addApp)
        group.get("keys", use: self.listKeys).post("keys", use: self.addKey)
    }

    @Sendable private func listApps(_ request: Request, _ context: AdminContext) async throws -> Response {
        let apps = self.registry.apps.map { App(teamId: $0.teamID, bundleId: $0.bundleID.name) }
        return try JSONAnswer.make(.ok, ["apps": apps])
    }

    @Sendable private func addApp(_ request: Request, _ context: AdminContext) async throws -> Response {
        let app = try APIRefusal.decode(App.self, from: try await context.body(of: request))
        try Self.check(identifier: app.teamId, field: "teamId")
        guard let bundleID = Topic(app.bundleId) else {
            throw APIRefusal(
                status: 400,
                code: "invalid_bundle_id",
                message: "a bundle id has 1 to 255 letters, digits, dots, hyphens or underscores",
                field: "bundleId"
            )
        }
        switch try await self.registry.add(app: bundleID, team: app.teamId) {
        case .added: return try JSONAnswer.make(.created, app)
        case .alreadyThere: return try JSONAnswer.make(.ok, app)
        case .conflict:
            throw APIRefusal(
                status: 409,
                code: "other_team",
                message: "this app is registered for another team",
                field: "teamId"
            )
        }
    }

    @Sendable private func listKeys(_ request: Request, _ context: AdminContext) async throws -> Response {
        let keys = self.registry.keys.map { Key(teamId: $0.teamID, keyId: $0.keyID) }
        return try JSONAnswer.make(.ok, ["keys": keys])
    }

    @Sendable private func addKey(_ request: Request, _ context: AdminContext) async throws -> Response {
        let new = try APIRefusal.decode(NewKey.self, from: try await context.body(of: request))
        try Self.check(identifier: new.teamId, field: "teamId")
        try Self.check(identifier: new.keyId, field: "keyId")
        guard let publicKey = Self.publicKey(pem: new.key) else {
            throw APIRefusal(
                status: 400,
                code: "invalid_key",
                message: "the key must be P-256 in PEM: BEGIN PUBLIC KEY, or the text of a .p8 file",
                field: "key"
            )
        }
        let key = RegisteredKey(teamID: new.teamId, keyID: new.keyId, publicKey: publicKey)
        let answer = Key(teamId: new.teamId, keyId: new.keyId)
        switch try await self.registry.add(key: key) {
        case .added: return try JSONAnswer.make(.created, answer)
        case .alreadyThere: return try JSONAnswer.make(.ok, answer)
        case .conflict:
            throw APIRefusal(
                status: 409,
                code: "other_key",
                message: "another key or team is registered under this key id",
                field: "keyId"
            )
        }
    }

    private static func check(identifier: String, field: String) throws {
        guard identifier.utf8.count == 10, identifier.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
            throw APIRefusal(
                status: 400,
                code: "invalid_identifier",
                message: "team and key ids have 10 letters or digits",
                field: field
            )
        }
    }

    private static func publicKey(pem: String) -> [UInt8]? {
        let key =
            (try? P256.Signing.PublicKey(pemRepresentation: pem))
            ?? (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey
        return key.map { Array($0.x963Representation) }
    }
}
