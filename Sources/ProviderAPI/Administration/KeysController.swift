import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
import PushSupport
package import PushTypes

/// The operations at `/v1/keys`, which manage API keys, and at `/v1/key`, which shows the key of the request.
struct KeysController: Controller {
    let store: any APIKeyStore
    let keys: APIKeys
    let time: any TimeSource

    var operations: [ProviderOperation] {
        let (key, maximum) = (KeyResponse.schema, 16 * 1024)
        let operations: [ProviderOperation] = [
            .init(.get, "/v1/keys", id: "listKeys", "All API keys, without their texts.", self.list)
                .responses(.ok(.list("keys", of: key))),
            .init(.post, "/v1/keys", .audited, id: "addKey", self.add)
                .summary("Issues an API key; its text is in this response only.")
                .body(APIKeyRequest.addition.schema, maximum: maximum).responses(.created(key)),
            .init(.patch, "/v1/keys/{key}", .audited, id: "changeKey", "Changes an API key at once.", self.change)
                .body(APIKeyRequest.change.schema, maximum: maximum).responses(.ok(key)).errors(.conflict),
            .init(.delete, "/v1/keys/{key}", .audited, id: "deleteKey", "Removes an API key.", self.delete)
                .responses(.noContent).errors(.conflict),
        ]
        return operations.map { $0.tag(.administration).scope(.admin) } + [
            .init(.get, "/v1/key", id: "ownKey", "The API key of the request itself.", self.own)
                .tag(.administration).authenticated().filteredByApp().responses(.ok(key))
        ]
    }

    /// Issues a key, whose text only this response contains. The store contains only a hash of it.
    private func add(_ request: OperationRequest) async throws -> Response {
        let settings = try APIKeyRequest(try await request.fields(APIKeyRequest.addition), now: self.time.now)
        guard let name = settings.name else { throw settings.fields.error("name", "missing_field", "name the key") }
        guard let scopes = settings.scopes else { throw settings.invalidScopes }
        if scopes.contains(.registerSelf), settings.apps == nil {
            throw settings.fields.error(
                "apps",
                "missing_field",
                "a public key is for named apps: name the one it is in"
            )
        }
        let (key, text) = try await settings.fields.checkingApps {
            try await self.keys.issue(name: name, scopes: scopes) { settings.apply(to: &$0) }
        }
        request.made(key.id)
        return try .json(KeyResponse(record: key, text: text), status: .created)
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        try .page("keys", try await self.store.keys().map(self.response))
    }

    /// Returns the response with the API key of the request, so that a caller can learn the key's scopes.
    private func own(_ request: OperationRequest) async throws -> Response {
        guard let caller = request.caller, !caller.isPerson else {
            throw RequestError.conflict("no_key", "this request was made by a person, without an API key")
        }
        let id = caller.id
        guard let record = try await self.store.keys().first(where: { $0.id == id }) else {
            let message = "this API key has just been removed"
            throw RequestError(.unauthenticated, code: "unauthorized", message: message, path: "authorization")
        }
        return try .json(self.response(record))
    }

    /// Changes the settings of a key that are in the body. They apply to later requests with the key. `null` removes
    /// the limit to certain apps, the expiry or the rate limit. Responds with 409 if no admin key without expiry would
    /// remain.
    private func change(_ request: OperationRequest) async throws -> Response {
        let settings = try APIKeyRequest(try await request.fields(APIKeyRequest.change), now: self.time.now)
        return try await request.object("key") { id in
            let before = try await self.store.keys().first { $0.id == id }
            if let before { try settings.checkChange(of: before) }
            let change = try await settings.fields.checkingApps {
                try await self.store.changeKey(id) { settings.apply(to: &$0) }
            }
            switch change {
            case .changed(let key): return try .json(self.response(key))
            case .missing: return nil
            case .lastAdmin: throw Self.lastAdmin
            }
        }
    }

    /// Removes a key, unless it is the last one that can administer everything and never expires.
    private func delete(_ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("key") else { throw RequestError.noSuch("key") }
        switch try await self.store.deleteKey(id) {
        case .deleted: return .noContent
        case .missing: throw RequestError.noSuch("key")
        case .lastAdmin: throw Self.lastAdmin
        }
    }

    private static let lastAdmin = RequestError.conflict(
        "last_admin_key",
        """
        the provider could not be administered without this key: issue another key with the scope admin first, for \
        all apps and without expiry
        """,
        at: "key"
    )

    /// Returns the response for a key, with the time of its last request, which the store may not contain yet.
    private func response(_ key: APIKeyRecord) -> KeyResponse {
        var key = key
        key.lastUsedAt = [key.lastUsedAt, self.keys.uses.latest(key.id)].compactMap { $0 }.max()
        return KeyResponse(record: key)
    }
}

/// The response object for an API key. The text of the key is only in the response to its creation.
package struct KeyResponse: ResponseObject {
    package let record: APIKeyRecord
    /// The text of the key, with which clients authenticate, in the response to its creation. It is `nil` in others.
    package var text: String?

    package var scopes: [APIScope] { self.record.scopes.sorted { $0.rawValue < $1.rawValue } }
    package var apps: [Topic]? { self.record.apps?.sorted { $0.name < $1.name } }

    package static let schemaName: String? = "Key"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.record.id),
        .required("name", \.record.name),
        .required("scopes", \.scopes),
        .optional("apps", \.apps, "The apps that it is limited to; absent for all."),
        .required("createdAtMs", \.record.createdAt),
        .optional("expiresAt", \.record.expiresAt?.rfc3339, "RFC 3339; absent for never."),
        .optional("rate", \.record.rate, "Requests per second; absent for the server's own."),
        .optional("lastUsedAt", \.record.lastUsedAt?.rfc3339, "RFC 3339; absent for a key that was never used."),
        .optional("key", \.text, "Only in the response to its creation."),
    ]
}

extension JSONFields {
    /// Calls `body` and returns its result. A `StoreError` about an app that does not exist is converted into a
    /// ``RequestError`` that names the member `apps`, and all other errors are rethrown.
    func checkingApps<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as StoreError {
            guard case .noSuchApp = error else { throw error }
            throw self.error("apps", "no_such_app", error.description)
        }
    }
}

extension APIScope: JSONRepresentable {}
