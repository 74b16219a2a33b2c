package import Foundation
package import PushSupport
package import PushTypes

/// Reads requests to register a device from JSON.
package enum DeviceRequest {
    /// The minimum length of a token, in bytes. A shorter one is rejected.
    package static let minimumToken = AudienceExpression.minimumToken
    /// The error message for a text that cannot be a device token.
    static let tokenForm =
        "a device token is hex or base64 of \(Self.minimumToken) to \(DeviceToken.maximumLength) bytes"

    package enum Members {
        package static let token = Member.token("token", DeviceRequest.tokenForm)
        package static let environment = Member.environment.described("Default production.")
        package static let kind = Member.tokenKind
            .described("Default alert, or the kind that is stored with the token.")
        package static let activity = Member.text("activity", 1...Member.maximumText)
            .described("The app's id of the Live Activity, of an update token.")
        fileprivate static let user = Member.text("user", 1...Member.maximumText).clearable
        /// The locale, with the hyphens of BCP 47: `pt_BR` becomes `pt-BR`.
        fileprivate static let locale = Member.text("locale", maximum: Member.maximumText, as: .locale)
            .parsed("invalid_locale", "use a BCP 47 tag such as de, pt-BR or zh-Hant-TW") { name -> String? in
                LocaleTag.isName(name) ? LocaleTag.stored(name) : nil
            }.clearable
        fileprivate static let timeZone = Member.zoneName("timeZone").clearable.described("Such as Europe/Berlin.")
        fileprivate static let appVersion = Member.text("appVersion", 1...Member.maximumText)
            .checked("invalid_version", "use numbers such as 2.10.1") { AppVersion($0) != nil }.clearable
        fileprivate static let installation = Member.text("installation", 1...Member.maximumText)
            .described("With it, a changed token replaces the old one of its kind.")
        fileprivate static let capabilities = Member.texts(
            "capabilities",
            0...DeviceCapabilities.named.count,
            maximum: 32,
            as: .choice(DeviceCapabilities.named.keys.sorted())
        ).parsedEach(
            "invalid_capability",
            "use some of \(DeviceCapabilities.named.keys.sorted().joined(separator: ", "))"
        ) { DeviceCapabilities.named[$0] }
        package static let tags = Member.texts("tags", 0...DeviceLimits.tags, maximum: Member.maximumText)
        package static let attributes = Member.openObject(
            "attributes",
            as: .map(of: Schema.attribute.orNull, maximum: DeviceLimits.attributes)
        )
        fileprivate static let preferences = Member.object("preferences", Preferences.object) {
            (fields) throws(RequestError) -> Preferences in try Preferences(fields)
        }.clearable
        fileprivate static let encryptionKey = Member.object("encryptionKey", InstallationPublicKey.object) {
            (fields) throws(RequestError) -> InstallationPublicKey in try InstallationPublicKey(fields)
        }.clearable

        /// The members that an installation may set when it registers itself.
        package static let own: [any RequestMemberProtocol] = [
            SubscriptionRequest.subscription, SubscriptionRequest.vapidKey, Self.environment, Self.locale,
            Self.timeZone, Self.appVersion, Self.capabilities, Self.preferences, Self.encryptionKey,
        ]
        fileprivate static let others: [any RequestMemberProtocol] = [
            Self.token.described("32 to 512 bytes in hexadecimal or base64, but for the kind web."), Self.kind,
            Self.activity, Self.user, Self.installation, Self.tags.described("They replace all earlier tags."),
            Self.attributes.described("The attributes to set, or with null to remove."),
        ]
    }

    package static let object = RequestObject(optional: Members.own, Members.others) {
        Self.completed($0)
            .described("A member that is absent keeps its value; null removes it.")
            .example(
                .texts(["token": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", "user": "alice"])
            )
            .named("DeviceRequest")
    }

    /// Returns the schema with the members that the kind of a device requires: an update token names its Live Activity,
    /// and a browser has a subscription.
    package static func completed(_ schema: Schema) -> Schema {
        schema.requiringOne(of: "token", "subscription")
            .requiring("activity", where: "kind", is: .string(DeviceTokenKind.liveActivityUpdate.rawValue))
            .requiring("subscription", where: "kind", is: .string(DeviceTokenKind.web.rawValue))
    }

    /// Reads a registration from JSON text.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func parse(_ body: Data) throws(RequestError) -> DeviceRegistration {
        try Self.registration(JSONFields(parsing: body, known: Self.object.known))
    }

    /// Reads a registration from the members of a JSON object.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func registration(_ fields: JSONFields) throws(RequestError) -> DeviceRegistration {
        var registration = try Self.read(fields)
        registration.followCapabilities()
        return registration
    }

    private static func read(_ fields: JSONFields) throws(RequestError) -> DeviceRegistration {
        let subscription = try SubscriptionRequest.read(fields)
        var registration = DeviceRegistration(
            environment: try fields.value(Members.environment) ?? .production,
            token: try Self.token(fields, subscription)
        )
        registration.subscription = subscription
        (registration.kind, registration.activity) = try Self.kind(fields)
        if subscription != nil { registration.kind = .web }
        registration.user = try fields.value(Members.user)
        registration.locale = try fields.value(Members.locale)
        registration.timeZone = try fields.value(Members.timeZone)
        registration.appVersion = try fields.value(Members.appVersion)
        registration.installation = try fields.value(Members.installation)
        registration.capabilities = try fields.value(Members.capabilities).map { DeviceCapabilities($0) }
        registration.tags = try fields.value(Members.tags).map { Set($0.map { BytewiseString($0) }) }
        registration.attributes = try Self.attributes(fields)
        registration.preferences = try fields.value(Members.preferences)
        registration.encryptionKey = try fields.value(Members.encryptionKey)
        return registration
    }

    private static func token(
        _ fields: JSONFields,
        _ subscription: SubscriptionRegistration?
    ) throws(RequestError) -> DeviceToken {
        if let subscription { return try subscription.subscription.token(fields) }
        return try fields.required(Members.token)
    }

    /// Reads the registration that an installation makes itself, with only the tags and attributes that its app allows.
    /// - Throws: ``RequestError`` that names the member at fault, or the app's setting.
    package static func ownRegistration(_ fields: JSONFields, app: AppRecord) throws(RequestError) -> DeviceRegistration
    {
        var registration = try Self.read(fields)
        try InstallationPermissions.apply(to: &registration, fields, of: app)
        registration.followCapabilities()
        return registration
    }

    private static func kind(_ fields: JSONFields) throws(RequestError) -> (DeviceTokenKind?, activity: String?) {
        let (kind, activity) = (try fields.value(Members.kind), try fields.value(Members.activity))
        guard activity != nil else {
            guard kind == .liveActivityUpdate else { return (kind, nil) }
            let message = "an update token is of one Live Activity: give the app's own id of that"
            throw fields.error("activity", "missing_field", message)
        }
        guard kind ?? .liveActivityUpdate == .liveActivityUpdate else {
            throw fields.error("activity", "conflicting_field", "only tokens of the kind liveActivityUpdate have one")
        }
        return (.liveActivityUpdate, activity)
    }

    private static func attributes(_ fields: JSONFields) throws(RequestError) -> [String: Update<JSONValue>] {
        guard let members = try fields.value(Members.attributes) else { return [:] }
        guard members.count <= DeviceLimits.attributes
        else { throw fields.error("attributes", "too_many", "at most \(DeviceLimits.attributes) attributes") }
        var attributes: [String: Update<JSONValue>] = [:]
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard (1...Member.maximumText).contains(name.utf8.count) else {
                throw fields.error("attributes", "invalid_value", "a name has 1 to \(Member.maximumText) bytes")
            }
            switch value {
            case .null: attributes[name] = .clear
            case .string(let text) where text.utf8.count > Member.maximumText:
                throw fields.error("attributes.\(name)", "too_long", "at most \(Member.maximumText) bytes")
            case .string, .integer, .number, .bool: attributes[name] = .set(value)
            case .array, .object: throw fields.wrongType("attributes.\(name)", "a text, a number, true, false or null")
            }
        }
        return attributes
    }
}

extension RequestError {
    /// The error of a registration with which the device would exceed one of its limits.
    package init(_ excess: ExceededDeviceLimit) {
        self.init(
            .invalid,
            code: excess.code,
            message: "the device would have more than \(excess.limit): set some to null, or name fewer",
            path: excess.field
        )
    }
}

extension Schema {
    /// A locale in the form of BCP 47 or of POSIX.
    package static let locale = Schema.string(
        length: 2...LocaleTag.maximumLength,
        pattern: "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*([.@][A-Za-z0-9_.@=;-]*)?$"
    )
}
