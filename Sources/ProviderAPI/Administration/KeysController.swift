import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// `/v1/keys` and `/v1/key`: the API keys.
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
                .body(KeySettings.addition.schema, maximum: maximum).responses(.created(key)),
            .init(.patch, "/v1/keys/{key}", .audited, id: "changeKey", "Changes an API key at once.", self.change)
                .body(KeySettings.change.schema, maximum: maximum).responses(.ok(key)).errors(.conflict),
            .init(.delete, "/v1/keys/{key}", .audited, id: "deleteKey", "Removes an API key.", self.delete)
                .responses(.noContent).errors(.conflict),
        ]
        return operations.map { $0.tag(.administration).scope(.admin) } + [
            .init(.get, "/v1/key", id: "ownKey", "The API key of the request itself.", self.own)
                .tag(.administration).authenticated().filteredByApp().responses(.ok(key))
        ]
    }

    /// Issues a key. The store keeps only a hash of its text.
    private func add(_ request: OperationRequest) async throws -> Response {
        let settings = try KeySettings(try await request.fields(KeySettings.addition), now: self.time.now)
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

    /// Returns the key of the request, with which a caller learns its scopes before it begins something.
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

    /// Changes the members that the body names, from the next request on. `null` removes a limit.
    private func change(_ request: OperationRequest) async throws -> Response {
        let settings = try KeySettings(try await request.fields(KeySettings.change), now: self.time.now)
        return try await request.object("key") { id in
            let before = try await self.store.keys().first { $0.id == id }
            if let before { try Self.check(settings, of: before) }
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

    /// Removes a key. The last key that can administer everything and never expires stays.
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

    /// Rejects changes that would make a public key a secret one, whose text is in every copy of an app, or the reverse.
    private static func check(_ settings: KeySettings, of key: APIKeyRecord) throws {
        if let scopes = settings.scopes, scopes.contains(.registerSelf) != key.isPublic {
            let message = "a public key stays public, and another one secret: issue a new key"
            throw settings.fields.error("scopes", "invalid_scopes", message)
        }
        if key.isPublic, settings.apps == .clear {
            throw settings.fields.error("apps", "invalid_value", "a public key is for named apps")
        }
    }

    /// Returns a key with the time of its last request, which may not be written yet.
    private func response(_ key: APIKeyRecord) -> KeyResponse {
        var key = key
        key.lastUsedAt = [key.lastUsedAt, self.keys.uses.latest(key.id)].compactMap { $0 }.max()
        return KeyResponse(record: key)
    }
}
