package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
package import PushTypes

/// The members of an API key that a request sets.
struct KeySettings {
    private enum Members {
        static let name = Member.text("name", 1...200)
        static let scopes = Member.texts(
            "scopes",
            1...APIScope.allCases.count,
            maximum: 32,
            as: .choice(of: APIScope.self)
        )
        static let expiresAt = Member.time("expiresAt")
        /// Ten years at most.
        static let expiresIn = Member.integer("expiresIn", 1...10 * 366 * 86_400).described("Seconds.")
        static let rate = Member.integer("rate", 1...100_000).clearable
            .described("Requests per second; default the server's.")
        static let limits: [any ObjectMember] = [KeySettings.appsMember, Self.expiresAt, Self.expiresIn, Self.rate]
    }

    /// The apps of a key or a person.
    static let appsMember = Member.texts("apps", 1...100, maximum: Topic.maximumLength, as: .bundleID)
        .described("Default: all apps.")

    /// The members of a new key, and those that a change may have.
    static let addition = RequestObject(required: [Members.name, Members.scopes], optional: Members.limits)
    static let change = RequestObject(optional: Members.limits, [Members.name.neverNull, Members.scopes.neverNull])

    let fields: JSONFields
    let name: String?
    let scopes: Set<APIScope>?
    let apps: Update<Set<Topic>>?
    let expiresAt: Update<Timestamp>?
    let rate: Update<Int>?

    /// - Throws: ``RequestError`` that names the member at fault.
    init(_ fields: JSONFields, now: Timestamp) throws {
        self.fields = fields
        self.name = try fields.value(Members.name)
        self.scopes = try Self.scopes(fields)
        self.apps = try Self.apps(fields)
        self.expiresAt = try Self.expiry(fields, now: now)
        self.rate = try fields.value(Members.rate).map { $0.map { Int($0) } }
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
        guard let texts = try fields.value(Members.scopes) else { return nil }
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
        guard let texts = try fields.value(Self.appsMember) else { return nil }
        let apps = Set(texts.compactMap { Topic($0) })
        guard !apps.isEmpty, apps.count == Set(texts).count else {
            throw fields.error("apps", "invalid_bundle_id", "name at least one bundle id, or leave it out for all apps")
        }
        return .set(apps)
    }

    /// Returns the end of the key's life, which is given as a time or in seconds from now.
    private static func expiry(_ fields: JSONFields, now: Timestamp) throws -> Update<Timestamp>? {
        let (at, seconds) = (try fields.value(Members.expiresAt), try fields.value(Members.expiresIn))
        guard at == nil || seconds == nil else {
            throw fields.error("expiresIn", "conflicting_field", "give expiresAt or expiresIn, not both")
        }
        if let at, at <= now { throw fields.error("expiresAt", "in_the_past", "name a time in the future") }
        if let end = at ?? seconds.map({ now.advanced(by: .seconds($0)) }) { return .set(end) }
        return fields.nulls.contains("expiresAt") || fields.nulls.contains("expiresIn") ? .clear : nil
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
