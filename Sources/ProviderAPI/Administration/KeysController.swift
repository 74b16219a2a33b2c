import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/keys` and `/v1/audit`: the API keys, and the changes that were made with them.
struct KeysController: Controller {
    let store: any ProviderStore
    let keys: APIKeys
    let trail: AuditTrail

    /// An API key in a response.
    private struct Key: Encodable {
        var id: String
        var name: String
        var scopes: [String]
        var createdAtMs: Int64
        /// Only in the response to its creation.
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
                "id": .uuid, "name": .string(), "scopes": .array(of: .choice(of: APIScope.self)),
                "createdAtMs": .timestamp,
            ],
            optional: ["key": .string().described("Only in the response to its creation.")]
        ).named("Key")
    }

    /// An audit entry in a response.
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
                "id": .integer(), "atMs": .timestamp, "keyName": .string(),
                "action": .string().described("Method and path."), "status": .integer(),
                "count": .integer().described(
                    "The number of requests: equal ones of a minute that failed share one entry."
                ),
            ],
            optional: ["key": .uuid]
        ).named("AuditEntry")
    }

    var operations: [ProviderOperation] {
        let scopes = Schema.array(of: .choice(of: APIScope.self), count: 1...APIScope.allCases.count)
        return [
            .init(.get, "/v1/keys", id: "listKeys", "All API keys, without their texts.", self.list)
                .tag(.administration).scope(.admin).responses(.ok(.list("keys", of: Key.schema))),
            .init(
                .post,
                "/v1/keys",
                .audited,
                id: "addKey",
                "Issues an API key; its text is in this response only.",
                self.add
            )
            .tag(.administration).scope(.admin)
            .body(
                .object(required: ["name": .string(length: 1...200), "scopes": scopes]),
                maximum: 16 * 1024
            )
            .responses(.created(Key.schema)),
            .init(.delete, "/v1/keys/{key}", .audited, id: "deleteKey", "Removes an API key.", self.delete)
                .tag(.administration).scope(.admin).responses(.noContent).errors(.conflict),
            .init(.get, "/v1/audit", id: "listAudit", "The changes by API key, newest first.", self.audit)
                .tag(.administration).scope(.admin).parameters(.cursor, .limit())
                .responses(.ok(.page("entries", of: Entry.schema))),
        ]
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(["name", "scopes"])
        let name = try fields.requiredString("name", maximum: 200)
        let texts = try fields.strings("scopes", count: APIScope.allCases.count, maximum: 32) ?? []
        let scopes = Set(texts.compactMap(APIScope.init(rawValue:)))
        guard !scopes.isEmpty, scopes.count == Set(texts).count else {
            let known = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.error("scopes", "invalid_scopes", "name at least one of \(known)")
        }
        let (key, text) = try await self.keys.issue(name: name, scopes: scopes)
        return try .json(Key(key, text: text), status: .created)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        try .json(["keys": try await self.store.keys().map { Key($0) }])
    }

    /// Removes a key. The last key with the scope `admin` stays.
    private func delete(_ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("key") else { throw RequestError.noSuch("key") }
        switch try await self.store.deleteKey(id) {
        case .deleted: return .noContent
        case .missing: throw RequestError.noSuch("key")
        case .lastAdmin:
            throw RequestError.conflict(
                "last_admin_key",
                "the provider could not be administered without this key: issue another admin key first",
                at: "key"
            )
        }
    }

    /// Lists audit entries, after pending counts have been written.
    private func audit(_ request: OperationRequest) async throws -> Response {
        let page = try request.page(.audit)
        try await self.trail.flush()
        let entries = try await self.store.audit(before: page.after, limit: page.limit)
        return try .json(ListResponse("entries", entries.map(Entry.init), next: page.next(after: entries, \.id)))
    }
}
