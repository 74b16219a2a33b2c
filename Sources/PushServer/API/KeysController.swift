import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// `/v1/keys`: API keys.
struct KeysController: Sendable {
    let store: any APIKeyStore
    let keys: APIKeys

    private struct Key: Encodable {
        var id: String
        var name: String
        var scopes: [String]
        var createdAtMs: Int64
        /// Only in the answer to its creation.
        var key: String?

        init(_ key: APIKeyRecord, text: String? = nil) {
            self.id = key.id.uuidString
            self.name = key.name
            self.scopes = key.scopes.map(\.rawValue).sorted()
            self.createdAtMs = key.createdAt.milliseconds
            self.key = text
        }
    }

    func addRoutes(to group: RouterGroup<APIContext>) {
        group.get("keys", use: self.list).post("keys", use: self.add)
        group.delete("keys/:id", use: self.delete)
    }

    @Sendable private func add(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.admin)
        let fields = try JSONFields(parsing: try await context.body(of: request), known: ["name", "scopes"])
        let name = try fields.requiredString("name", maximum: 200)
        let texts = try fields.strings("scopes", count: APIScope.allCases.count, maximum: 32) ?? []
        let scopes = Set(texts.compactMap(APIScope.init(rawValue:)))
        guard !scopes.isEmpty, scopes.count == Set(texts).count else {
            let known = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.refusal("scopes", "invalid_scopes", "name at least one of \(known)")
        }
        let (key, text) = try await self.keys.issue(name: name, scopes: scopes)
        return try JSONAnswer.make(.created, Key(key, text: text))
    }

    @Sendable private func list(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.admin)
        return try JSONAnswer.make(.ok, ["keys": try await self.store.keys().map { Key($0) }])
    }

    @Sendable private func delete(_ request: Request, _ context: APIContext) async throws -> Response {
        try context.require(.admin)
        let id = context.parameters.get("id").flatMap(UUID.init(uuidString:))
        let admins = try await self.store.keys().filter { $0.scopes.contains(.admin) }
        guard admins.map(\.id) != [id] else {
            throw APIRefusal(
                status: 409,
                code: "last_admin_key",
                message: "without this key nobody could administer the provider: issue another admin key first",
                field: "id"
            )
        }
        guard let id, try await self.store.deleteKey(id) else {
            throw APIRefusal(status: 404, code: "no_such_key", message: "there is no API key with this id", field: "id")
        }
        return Response(status: .noContent)
    }
}
