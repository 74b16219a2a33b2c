package import PushSupport
package import PushTypes

/// The members of an API key that a request sets.
package struct APIKeyRequest: Sendable {
    private enum Members {
        static let name = Member.text("name", 1...200)
        static let scopes = Member.texts(
            "scopes",
            1...APIScope.allCases.count,
            maximum: 32,
            as: .choice(of: APIScope.self)
        )
        static let expiresAt = Member.time("expiresAt")
        /// The number of seconds from the request until the key expires, ten years at most.
        static let expiresIn = Member.integer("expiresIn", 1...10 * 366 * 86_400).described("Seconds.")
        static let rate = Member.integer("rate", 1...100_000).clearable
            .described("Requests per second; default the server's.")
        static let limits: [any ObjectMember] = [APIKeyRequest.appsMember, Self.expiresAt, Self.expiresIn, Self.rate]
    }

    /// The member with the apps that a key or a person is limited to.
    package static let appsMember = Member.texts("apps", 1...100, maximum: Topic.maximumLength, as: .bundleID)
        .described("Default: all apps.")

    /// The members of a request that adds a key.
    package static let addition = RequestObject(required: [Members.name, Members.scopes], optional: Members.limits)
    package static let change = RequestObject(
        optional: Members.limits,
        [Members.name.neverNull, Members.scopes.neverNull]
    )

    package let fields: JSONFields
    package let name: String?
    package let scopes: Set<APIScope>?
    package let apps: Update<Set<Topic>>?
    package let expiresAt: Update<Timestamp>?
    package let rate: Update<Int>?

    /// Reads the members. A relative expiry counts from `now`.
    /// - Throws: ``RequestError`` that names the member at fault.
    package init(_ fields: JSONFields, now: Timestamp) throws {
        self.fields = fields
        self.name = try fields.value(Members.name)
        self.scopes = try Self.scopes(fields)
        self.apps = try Self.apps(fields)
        self.expiresAt = try Self.expiry(fields, now: now)
        self.rate = try fields.value(Members.rate).map { $0.map { Int($0) } }
        if fields.nulls.contains("scopes") { throw self.invalidScopes }
        if fields.nulls.contains("name") { throw fields.wrongType("name", "a text") }
    }

    /// Sets the properties of a key that the request names, and keeps the others.
    package func apply(to key: inout APIKeyRecord) {
        if let name { key.name = name }
        if let scopes { key.scopes = scopes }
        if let apps { key.apps = apps.value }
        if let expiresAt { key.expiresAt = expiresAt.value }
        if let rate { key.rate = rate.value }
    }

    package var invalidScopes: RequestError { Self.invalidScopes(self.fields) }

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

    package static func apps(_ fields: JSONFields) throws -> Update<Set<Topic>>? {
        if fields.nulls.contains("apps") { return .clear }
        guard let texts = try fields.value(Self.appsMember) else { return nil }
        let apps = Set(texts.compactMap { Topic($0) })
        guard !apps.isEmpty, apps.count == Set(texts).count else {
            throw fields.error("apps", "invalid_bundle_id", "name at least one bundle id, or leave it out for all apps")
        }
        return .set(apps)
    }

    /// Returns the time at which the key expires, from `expiresAt` or `expiresIn`; `nil` if the request names neither.
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
