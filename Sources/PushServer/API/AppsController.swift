import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol
import PushProvider
import PushSender
import PushStore

/// `/v1/apps`: apps and the credentials they push with.
struct AppsController: Sendable {
    let store: any AppStore
    let directory: SenderDirectory
    let hygiene: TokenHygiene
    let time: any TimeSource

    private struct App: Encodable {
        var bundleId: String
        var name: String?
        /// Those for which there is a credential.
        var environments: [String]
        /// Milliseconds since 1970, as every time here.
        var createdAtMs: Int64
    }

    private struct Credential: Encodable {
        var environment: String
        var teamId: String
        var keyId: String
    }

    func addRoutes(to group: RouterGroup<APIContext>) {
        group.get("apps", use: self.list).post("apps", use: self.add)
        group.get("apps/:app", use: self.show)
        group.put("apps/:app/credentials/:environment", use: self.setCredential)
    }

    @Sendable private func add(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.admin)
        let fields = try JSONFields(parsing: try await context.body(of: request), known: ["bundleId", "name"])
        guard let bundleID = Topic(try fields.requiredString("bundleId", maximum: Topic.maximumLength)) else {
            throw fields.refusal("bundleId", "invalid_bundle_id", "use letters, digits, dots, hyphens or underscores")
        }
        let name = try fields.string("name", maximum: 200)
        let (app, isNew) = try await self.store.addApp(bundleID: bundleID, name: name, now: self.time.now)
        return try JSONAnswer.make(isNew ? .created : .ok, try await self.answer(app))
    }

    @Sendable private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.read)
        var apps: [App] = []
        for app in try await self.store.apps() { apps.append(try await self.answer(app)) }
        return try JSONAnswer.make(.ok, ["apps": apps])
    }

    @Sendable private func show(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.read)
        return try JSONAnswer.make(.ok, try await self.answer(try await context.app(self.store)))
    }

    @Sendable private func setCredential(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.admin)
        let app = try await context.app(self.store)
        guard let environment = context.parameters.get("environment").flatMap(PushEnvironment.init(named:)) else {
            throw APIRefusal(
                status: 404,
                code: "invalid_environment",
                message: "use sandbox or production",
                field: "environment"
            )
        }
        let fields = try JSONFields(
            parsing: try await context.body(of: request),
            known: ["teamId", "keyId", "privateKey"]
        )
        let teamID = try fields.requiredString("teamId", maximum: 64)
        let keyID = try fields.requiredString("keyId", maximum: 64)
        let credential = CredentialRecord.key(
            teamID: teamID,
            keyID: keyID,
            privateKey: try fields.requiredString("privateKey", maximum: 16 * 1024)
        )
        try Self.check(credential, fields)
        try await self.store.setCredential(credential, app: app.id, environment: environment)
        self.directory.forget(app: app.id)
        self.hygiene.forget(app: app.id)
        return try JSONAnswer.make(
            .ok,
            Credential(environment: environment.rawValue, teamId: teamID, keyId: keyID)
        )
    }

    private static func check(_ credential: CredentialRecord, _ fields: JSONFields) throws {
        do {
            _ = try credential.credential()
        } catch {
            let field =
                switch error {
                case .badTeamID: "teamId"
                case .badKeyID: "keyId"
                default: "privateKey"
                }
            throw fields.refusal(field, "invalid_credential", error.description)
        }
    }

    private func answer(_ app: AppRecord) async throws -> App {
        App(
            bundleId: app.bundleID.name,
            name: app.name,
            environments: try await self.store.environments(app: app.id).map(\.rawValue).sorted(),
            createdAtMs: app.createdAt.milliseconds
        )
    }
}
