import Hummingbird
package import PushHTTP
import PushProvider
package import PushStore
import PushSupport

/// `/v1/keys` and `/v1/audit`: the API keys, and the changes that were made with them.
struct KeysController: Controller {
    let store: any ProviderStore
    let keys: APIKeys
    let trail: AuditTrail

    /// An API key in a response.
    private struct Key: ResponseObject {
        let record: APIKeyRecord
        /// The text of the key, if this response shows it.
        var text: String?

        private var scopes: [APIScope] { self.record.scopes.sorted { $0.rawValue < $1.rawValue } }

        static let schemaName: String? = "Key"
        static let members: [ResponseMember<Self>] = [
            .required("id", \.record.id),
            .required("name", \.record.name),
            .required("scopes", \.scopes),
            .required("createdAtMs", \.record.createdAt),
            .optional("key", \.text, "Only in the response to its creation."),
        ]
    }

    var operations: [ProviderOperation] {
        let scopes = Schema.array(of: .choice(of: APIScope.self), count: 1...APIScope.allCases.count)
        let key = Schema.object(required: ["name": .string(length: 1...200), "scopes": scopes])
        let operations: [ProviderOperation] = [
            .init(.get, "/v1/keys", id: "listKeys", "All API keys, without their texts.", self.list)
                .responses(.ok(.list("keys", of: Key.schema))),
            .init(.post, "/v1/keys", .audited, id: "addKey", self.add)
                .summary("Issues an API key; its text is in this response only.")
                .body(key, maximum: 16 * 1024).responses(.created(Key.schema)),
            .init(.delete, "/v1/keys/{key}", .audited, id: "deleteKey", "Removes an API key.", self.delete)
                .responses(.noContent).errors(.conflict),
            .init(.get, "/v1/audit", id: "listAudit", "The changes by API key, newest first.", self.audit)
                .parameters(.cursor, .limit()).responses(.ok(.page("entries", of: AuditRecord.schema))),
        ]
        return operations.map { $0.tag(.administration).scope(.admin) }
    }

    /// Issues a key. The store keeps only a hash of its text.
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
        return try .json(Key(record: key, text: text), status: .created)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        try .page("keys", try await self.store.keys().map { Key(record: $0) })
    }

    /// Removes a key. The last key with the scope `admin` stays.
    private func delete(_ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("key") else { throw RequestError.noSuch("key") }
        switch try await self.store.deleteKey(id) {
        case .deleted: return .noContent
        case .missing: throw RequestError.noSuch("key")
        case .lastAdmin:
            let message = "the provider could not be administered without this key: issue another admin key first"
            throw RequestError.conflict("last_admin_key", message, at: "key")
        }
    }

    /// Lists audit entries, after pending counts have been written.
    private func audit(_ request: OperationRequest) async throws -> Response {
        let page = try request.page(.audit)
        try await self.trail.flush()
        let entries = try await self.store.audit(before: page.after, limit: page.limit)
        return try .page("entries", entries, next: page.next(after: entries, \.id))
    }
}

extension APIScope: JSONRepresentable {}

/// An audit entry in a response.
extension AuditRecord: ResponseObject {
    package static let schemaName: String? = "AuditEntry"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.id),
        .required("atMs", \.at),
        .optional("key", \.key),
        .required("keyName", \.keyName),
        .required("action", \.action, "Method and path."),
        .required("status", \.status),
        .required("count", \.count, "The number of requests: equal ones of a minute that failed share one entry."),
    ]
}
