package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import PushTypes

/// The members of an API key that a request sets.
struct KeySettings {
    /// The most apps of a key.
    static let maximumApps = 100
    /// The highest rate of a key, in requests per second.
    static let maximumRate = 100_000
    /// The longest time until a key expires, in seconds: ten years.
    static let maximumLifetime: Int64 = 10 * 366 * 86_400

    static let members: Set<String> = ["name", "scopes", "apps", "expiresAt", "expiresIn", "rate"]

    let fields: JSONFields
    let name: String?
    let scopes: Set<APIScope>?
    let apps: Update<Set<Topic>>?
    let expiresAt: Update<Timestamp>?
    let rate: Update<Int>?

    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields, now: Timestamp) throws {
        self.fields = fields
        self.name = try fields.string("name", maximum: 200)
        self.scopes = try Self.scopes(fields)
        self.apps = try Self.apps(fields)
        self.expiresAt = try Self.expiry(fields, now: now)
        let rate = try fields.integer("rate", in: 1...Int64(Self.maximumRate)).map(Int.init)
        self.rate = fields.nulls.contains("rate") ? .clear : rate.map { .set($0) }
        if fields.nulls.contains("scopes") { throw self.invalidScopes }
        if fields.nulls.contains("name") { throw fields.wrongType("name", "a text") }
    }

    /// Sets the members of a key that the request names.
    func apply(to key: inout APIKeyRecord) {
        if let name { key.name = name }
        if let scopes { key.scopes = scopes }
        if let apps { key.apps = apps.value }
        if let expiresAt { key.expiresAt = expiresAt.value }
        if let rate { key.rate = rate.value }
    }

    var invalidScopes: RequestError { Self.invalidScopes(self.fields) }

    private static func invalidScopes(_ fields: JSONFields) -> RequestError {
        let known = APIScope.allCases.map(\.rawValue).joined(separator: ", ")
        return fields.error("scopes", "invalid_scopes", "name at least one of \(known)")
    }

    private static func scopes(_ fields: JSONFields) throws -> Set<APIScope>? {
        guard let texts = try fields.strings("scopes", count: APIScope.allCases.count, maximum: 32) else { return nil }
        let scopes = Set(texts.compactMap(APIScope.init(rawValue:)))
        guard !scopes.isEmpty, scopes.count == Set(texts).count else { throw Self.invalidScopes(fields) }
        guard !scopes.contains(.registerSelf) || scopes.count == 1 else {
            let message = "a key with registerSelf is public, and has no other scope: issue another key for the others"
            throw fields.error("scopes", "invalid_scopes", message)
        }
        return scopes
    }

    static func apps(_ fields: JSONFields) throws -> Update<Set<Topic>>? {
        if fields.nulls.contains("apps") { return .clear }
        guard let texts = try fields.strings("apps", count: Self.maximumApps, maximum: Topic.maximumLength) else {
            return nil
        }
        let apps = Set(texts.compactMap { Topic($0) })
        guard !apps.isEmpty, apps.count == Set(texts).count else {
            throw fields.error("apps", "invalid_bundle_id", "name at least one bundle id, or leave it out for all apps")
        }
        return .set(apps)
    }

    /// Returns the end of the key's life, which is given as a time or in seconds from now.
    private static func expiry(_ fields: JSONFields, now: Timestamp) throws -> Update<Timestamp>? {
        let (at, seconds) = (
            try fields.timestamp("expiresAt"), try fields.integer("expiresIn", in: 1...Self.maximumLifetime)
        )
        guard at == nil || seconds == nil else {
            throw fields.error("expiresIn", "conflicting_field", "give expiresAt or expiresIn, not both")
        }
        if let at, at <= now { throw fields.error("expiresAt", "in_the_past", "name a time in the future") }
        if let end = at ?? seconds.map({ now.advanced(by: .seconds($0)) }) { return .set(end) }
        return fields.nulls.contains("expiresAt") || fields.nulls.contains("expiresIn") ? .clear : nil
    }
}

extension KeySettings {
    /// The members that a new key needs, and those that it may have.
    static var schema: (required: [(key: String, value: Schema)], optional: [(key: String, value: Schema)]) {
        let scopes = Schema.array(of: .choice(of: APIScope.self), count: 1...APIScope.allCases.count)
        return (
            [("name", .string(length: 1...200)), ("scopes", scopes)],
            [
                ("apps", .array(of: .bundleID, count: 1...Self.maximumApps).described("Default: all apps.")),
                ("expiresAt", .time), ("expiresIn", .integer(1...Self.maximumLifetime).described("Seconds.")),
                ("rate", .integer(1...Int64(Self.maximumRate)).described("Requests per second; default the server's.")),
            ]
        )
    }
}

extension KeySettings {
    /// The members that a change may have.
    static var changes: [(key: String, value: Schema)] {
        let (required, optional) = Self.schema
        return required.map { ($0.key, $0.value.neverNull) } + optional
    }
}

/// An API key in a response.
package struct KeyResponse: ResponseObject {
    package let record: APIKeyRecord
    /// The text of the key, if this response shows it.
    package var text: String?

    package var scopes: [APIScope] { self.record.scopes.sorted { $0.rawValue < $1.rawValue } }
    package var apps: [Topic]? { self.record.apps?.sorted { $0.name < $1.name } }
    private var expiresAt: String? { self.record.expiresAt?.rfc3339 }
    private var lastUsedAt: String? { self.record.lastUsedAt?.rfc3339 }

    package static let schemaName: String? = "Key"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.record.id),
        .required("name", \.record.name),
        .required("scopes", \.scopes),
        .optional("apps", \.apps, "The apps that it is limited to; absent for all."),
        .required("createdAtMs", \.record.createdAt),
        .optional("expiresAt", \.expiresAt, "RFC 3339; absent for never."),
        .optional("rate", \.record.rate, "Requests per second; absent for the server's own."),
        .optional("lastUsedAt", \.lastUsedAt, "RFC 3339; absent for a key that was never used."),
        .optional("key", \.text, "Only in the response to its creation."),
    ]
}

extension JSONFields {
    /// Calls `body`, and rejects the request if the store finds an app of the member `apps` that does not exist.
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
