package import PushSupport
package import PushTypes

/// The settings in a request that adds or changes an API key.
package struct APIKeyRequest: Sendable {
    private enum Members {
        static let name = Member.text("name", 1...200).neverNull("it must be a text")
        static let scopes = Member.set(
            "scopes",
            of: APIScope.self,
            maximum: 32,
            code: "invalid_scopes",
            message: Self.scopesForm
        ).checked(
            "invalid_scopes",
            "a key with registerSelf is public, and has no other scope: issue another key for the others"
        ) { !$0.contains(.registerSelf) || $0.count == 1 }
        .neverNull(Self.scopesForm, code: "invalid_scopes")
        static let scopesForm = "name at least one of \(APIScope.allCases.map(\.rawValue).joined(separator: ", "))"
        static let expiresAt = Member.time("expiresAt")
        /// The number of seconds from the request until the key expires, ten years at most.
        static let expiresIn = Member.integer("expiresIn", 1...10 * 366 * 86_400).described("Seconds.")
        static let rate = Member.integer("rate", 1...100_000).clearable
            .described("Requests per second; default the server's.")
        static let limits: [any RequestMemberProtocol] = [
            APIKeyRequest.appsMember, Self.expiresAt, Self.expiresIn, Self.rate,
        ]
    }

    /// The member `apps` in requests about API keys and people: the bundle ids of the apps to which the key or the
    /// person is limited, at most 100.
    package static let appsMember = Member.texts("apps", 1...100, maximum: Topic.maximumLength, as: .bundleID)
        .described("Default: all apps.")
        .parsed("invalid_bundle_id", "name at least one bundle id, or leave it out for all apps") { texts in
            let apps = Set(texts.compactMap { Topic($0) })
            return apps.isEmpty || apps.count != Set(texts).count ? nil : apps
        }.clearable

    /// The members of a request that adds a key.
    package static let addition = RequestObject(required: [Members.name, Members.scopes], optional: Members.limits)
    package static let change = RequestObject(optional: Members.limits, [Members.name, Members.scopes])

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
        self.scopes = try fields.value(Members.scopes)
        self.apps = try fields.value(Self.appsMember)
        self.expiresAt = try Self.expiry(fields, now: now)
        self.rate = try fields.value(Members.rate).map { $0.map { Int($0) } }
    }

    /// Rejects a change that would make a public key secret, or a secret key public. Every copy of an app contains its
    /// public key.
    package func checkChange(of key: APIKeyRecord) throws(RequestError) {
        if let scopes, scopes.contains(.registerSelf) != key.isPublic {
            let message = "a public key stays public, and another one secret: issue a new key"
            throw self.fields.error("scopes", "invalid_scopes", message)
        }
        if key.isPublic, self.apps == .clear {
            throw self.fields.error("apps", "invalid_value", "a public key is for named apps")
        }
    }

    /// Sets the properties of a key that the request names, and keeps the others.
    package func apply(to key: inout APIKeyRecord) {
        if let name { key.name = name }
        if let scopes { key.scopes = scopes }
        if let apps { key.apps = apps.value }
        if let expiresAt { key.expiresAt = expiresAt.value }
        if let rate { key.rate = rate.value }
    }

    /// The error of a request for a key without scopes.
    package var invalidScopes: RequestError { self.fields.error("scopes", "invalid_scopes", Members.scopesForm) }

    /// Returns the time of expiry, from `expiresAt` or `expiresIn`, or `nil` if the request names neither.
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
