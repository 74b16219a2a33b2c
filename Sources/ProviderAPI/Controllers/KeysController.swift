import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/keys` and `/v1/audit`: who may do what, and who did what.
struct KeysController: Controller {
    let store: any ProviderStore
    let keys: APIKeys
    let trail: AuditTrail

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

        static let schema = Schema.object(
            required: [
                "id": .uuid, "name": .string(), "scopes": .array(of: .choice(APIScope.allCases.map(\.rawValue))),
                "createdAtMs": .moment,
            ],
            optional: ["key": .string().described("Only in the answer to its creation.")]
        ).named("Key")
    }

    private struct Entry: Encodable {
        var id: Int64
        var atMs: Int64
        var key: String?
        var keyName: String
        var action: String
        var status: Int
        var count: Int

        init(_ record: AuditRecord) {
            self.id = record.id
            self.atMs = record.at.milliseconds
            self.key = record.key?.uuidString
            self.keyName = record.keyName
            self.action = record.action
            self.status = record.status
            self.count = record.count
        }

        static let schema = Schema.object(
            required: [
                "id": .integer(), "atMs": .moment, "keyName": .string(),
                "action": .string().described("Method and path."), "status": .integer(),
                "count": .integer().described(
                    "Requests that it stands for: refusals of a minute that repeat are one entry."
                ),
            ],
            optional: ["key": .uuid]
        ).named("AuditEntry")
    }

    private struct Entries: Encodable {
        var entries: [Entry]
        var next: String?
    }

    var operations: [APIOperation] {
        let scopes = Schema.array(of: .choice(APIScope.allCases.map(\.rawValue)), count: 1...APIScope.allCases.count)
        return [
            APIOperation(
                method: .get,
                path: "/v1/keys",
                id: "listKeys",
                summary: "All API keys, without their texts.",
                tag: .administration,
                scope: .admin,
                answers: [.ok(.list("keys", of: Key.schema))],
                handler: self.list
            ),
            APIOperation(
                method: .post,
                path: "/v1/keys",
                id: "addKey",
                summary: "Issues an API key; its text is in this answer only.",
                tag: .administration,
                scope: .admin,
                body: BodyDescription(
                    schema: .object(required: ["name": .string(length: 1...200), "scopes": scopes]),
                    maximum: 16 * 1024
                ),
                answers: [.created(Key.schema)],
                isAudited: true,
                handler: self.add
            ),
            APIOperation(
                method: .delete,
                path: "/v1/keys/{key}",
                id: "deleteKey",
                summary: "Ends an API key.",
                tag: .administration,
                scope: .admin,
                answers: [.noContent],
                refusals: [409],
                isAudited: true,
                handler: self.delete
            ),
            APIOperation(
                method: .get,
                path: "/v1/audit",
                id: "listAudit",
                summary: "Who changed what, newest first.",
                tag: .administration,
                scope: .admin,
                parameters: [.cursor, .limit()],
                answers: [.ok(.page("entries", of: Entry.schema))],
                handler: self.audit
            ),
        ]
    }

    private func add(_ call: OperationRequest) async throws -> Response {
        let fields = try await call.fields(["name", "scopes"])
        let name = try fields.requiredString("name", maximum: 200)
        let texts = try fields.strings("scopes", count: APIScope.allCases.count, maximum: 32) ?? []
        let scopes = Set(texts.compactMap(APIScope.init(rawValue:)))
        guard !scopes.isEmpty, scopes.count == Set(texts).count else {
            let known = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.refusal("scopes", "invalid_scopes", "name at least one of \(known)")
        }
        let (key, text) = try await self.keys.issue(name: name, scopes: scopes)
        return try JSONResponse.make(.created, Key(key, text: text))
    }

    private func list(_ call: OperationRequest) async throws -> Response {
        try JSONResponse.make(.ok, ["keys": try await self.store.keys().map { Key($0) }])
    }

    private func delete(_ call: OperationRequest) async throws -> Response {
        guard let id = call.uuid("key") else { throw RequestError.noSuch("key", "key") }
        switch try await self.store.deleteKey(id) {
        case .deleted: return Response(status: .noContent)
        case .missing: throw RequestError.noSuch("key", "key")
        case .lastAdmin:
            throw RequestError(
                .conflict,
                code: "last_admin_key",
                message: "without this key nobody could administer the provider: issue another admin key first",
                path: "key"
            )
        }
    }

    private func audit(_ call: OperationRequest) async throws -> Response {
        let limit = try call.limit()
        try await self.trail.settle()
        let entries = try await self.store.audit(before: try call.cursor(.audit), limit: limit)
        let next = entries.count == limit ? entries.last.map { Cursor(list: .audit, position: $0.id).text } : nil
        return try JSONResponse.make(.ok, Entries(entries: entries.map(Entry.init), next: next))
    }
}
