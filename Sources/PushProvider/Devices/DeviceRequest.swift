package import Foundation
package import PushStore
package import PushSupport
package import PushTypes

/// Reads requests to register a device from JSON.
package enum DeviceRequest {
    /// The maximum length of a user id, tag, locale, time zone, version, installation, attribute name or text, in bytes.
    package static let maximumText = AudienceExpression.maximumText
    /// The minimum length of a token, in bytes.
    package static let minimumToken = AudienceExpression.minimumToken
    /// The message of an error about a token that cannot be one.
    static let tokenForm =
        "a device token is hex or base64 of \(Self.minimumToken) to \(DeviceToken.maximumLength) bytes"
    /// The maximum number of tags of a device, and of attributes of a registration; see ``DeviceBounds`` too.
    package static let maximumTags = DeviceBounds.tags
    package static let maximumAttributes = DeviceBounds.attributes

    package static let members: Set<String> = [
        "token", "environment", "kind", "activity", "user", "locale", "timeZone", "appVersion", "installation",
        "capabilities",
        "tags", "attributes", "preferences", "encryptionKey", "subscription", "vapidKey",
    ]

    /// Reads a registration from JSON text.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func parse(_ body: Data) throws(RequestError) -> DeviceRegistration {
        try Self.registration(JSONFields(parsing: body, known: Self.members))
    }

    /// Reads a registration from the members of a JSON object.
    /// - Throws: As ``parse(_:)``.
    package static func registration(_ fields: JSONFields) throws(RequestError) -> DeviceRegistration {
        var registration = try Self.read(fields)
        Self.followCapabilities(&registration)
        return registration
    }

    private static func read(_ fields: JSONFields) throws(RequestError) -> DeviceRegistration {
        let subscription = try SubscriptionRequest.read(fields)
        var registration = DeviceRegistration(
            environment: try fields.environment("environment") ?? .production,
            token: try Self.token(fields, subscription)
        )
        registration.subscription = subscription
        (registration.kind, registration.activity) = try Self.kind(fields)
        if subscription != nil { registration.kind = .web }
        registration.user = try fields.update("user")
        registration.locale = try fields.update("locale")
        // With the hyphens of BCP 47: `pt_BR` becomes `pt-BR`.
        if case .set(let locale)? = registration.locale {
            guard LocaleTag.isName(locale) else {
                throw fields.error("locale", "invalid_locale", "use a BCP 47 tag such as de, pt-BR or zh-Hant-TW")
            }
            registration.locale = .set(LocaleTag.stored(locale))
        }
        registration.timeZone = try fields.update("timeZone")
        if case .set(let name)? = registration.timeZone, TimeZone(named: name) == nil {
            throw fields.error("timeZone", "invalid_time_zone", JSONFields.zoneForm)
        }
        registration.appVersion = try fields.update("appVersion")
        if case .set(let text)? = registration.appVersion, AppVersion(text) == nil {
            throw fields.error("appVersion", "invalid_version", "use numbers such as 2.10.1")
        }
        registration.installation = try fields.string("installation", maximum: Self.maximumText)
        registration.capabilities = try Self.capabilities(fields)
        registration.tags = try fields.strings("tags", count: Self.maximumTags, maximum: Self.maximumText)
            .map { Set($0.map { ExactText($0) }) }
        registration.attributes = try Self.attributes(fields)
        if let preferences = try fields.fields("preferences", known: Preferences.members) {
            registration.preferences = .set(try Preferences(preferences))
        } else if fields.nulls.contains("preferences") {
            registration.preferences = .clear
        }
        if let key = try fields.fields("encryptionKey", known: EncryptionKey.members) {
            registration.encryptionKey = .set(try EncryptionKey(key))
        } else if fields.nulls.contains("encryptionKey") {
            registration.encryptionKey = .clear
        }
        return registration
    }

    private static func token(
        _ fields: JSONFields,
        _ subscription: SubscriptionRegistration?
    ) throws(RequestError) -> DeviceToken {
        if let subscription { return try subscription.subscription.token(fields) }
        let text = try fields.requiredString("token", maximum: DeviceToken.maximumLength * 4)
        guard let token = DeviceToken(userInput: text), token.bytes.count >= Self.minimumToken else {
            throw fields.error("token", "invalid_token", Self.tokenForm)
        }
        return token
    }

    /// Reads the registration of an installation by itself, which writes no tags or attributes but those that its app
    /// allows.
    /// - Throws: ``RequestError`` that names the member at fault, or the app's setting.
    package static func ownRegistration(_ fields: JSONFields, app: AppRecord) throws(RequestError) -> DeviceRegistration
    {
        var registration = try Self.read(fields)
        if fields.nulls.contains("tags") { registration.tags = [] }
        if let tags = registration.tags {
            registration.ownTags = app.installationTags
            for tag in tags.sorted().map(\.text) where !app.installationTags.match(tag) {
                throw Self.notAllowed("tag", tag, field: "tags", setting: "installationTags")
            }
        }
        if fields.nulls.contains("attributes") { registration.clearedAttributes = app.installationAttributes }
        for name in registration.attributes.keys.sorted() where !app.installationAttributes.match(name) {
            let field = "attributes.\(name)"
            throw Self.notAllowed("attribute", name, field: field, setting: "installationAttributes")
        }
        Self.followCapabilities(&registration)
        return registration
    }

    /// The attribute by which *Notify* finds the devices with Newsstand, and that of the publisher's account.
    package static let (newsstandAttribute, accountAttribute) = ("newsstand", "accountId")

    /// Sets the attribute of Newsstand by the capabilities, unless the request names the attribute itself.
    ///
    /// A device that registers without the capability is not notified of issues any more.
    private static func followCapabilities(_ registration: inout DeviceRegistration) {
        guard let capabilities = registration.capabilities, registration.attributes[Self.newsstandAttribute] == nil
        else { return }
        registration.attributes[Self.newsstandAttribute] =
            capabilities.contains(.newsstand) ? .set(.bool(true)) : .clear
    }

    private static func notAllowed(_ what: String, _ name: String, field: String, setting: String) -> RequestError {
        let message = """
            the app does not let installations write the \(what) \(name): add it to the app's setting \(setting)
            """
        return RequestError(.forbidden, code: "\(what)_not_allowed", message: message, path: field)
    }

    /// Reads the kind of the token, and the Live Activity to which an update token belongs.
    private static func kind(_ fields: JSONFields) throws(RequestError) -> (TokenKind?, activity: String?) {
        let kind = try fields.tokenKind("kind")
        let activity = try fields.string("activity", maximum: Self.maximumText)
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

    private static func capabilities(_ fields: JSONFields) throws(RequestError) -> DeviceCapabilities? {
        let all = DeviceCapabilities.named
        guard let names = try fields.strings("capabilities", count: all.count, maximum: 32) else { return nil }
        var capabilities: DeviceCapabilities = []
        for (index, name) in names.enumerated() {
            guard let capability = all[name] else {
                let known = all.keys.sorted().joined(separator: ", ")
                throw fields.error("capabilities[\(index)]", "invalid_capability", "use some of \(known)")
            }
            capabilities.insert(capability)
        }
        return capabilities
    }

    private static func attributes(_ fields: JSONFields) throws(RequestError) -> [String: Update<JSONValue>] {
        guard let members = try fields.object("attributes") else { return [:] }
        guard members.count <= Self.maximumAttributes
        else { throw fields.error("attributes", "too_many", "at most \(Self.maximumAttributes) attributes") }
        var attributes: [String: Update<JSONValue>] = [:]
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard (1...Self.maximumText).contains(name.utf8.count) else {
                throw fields.error("attributes", "invalid_value", "a name has 1 to \(Self.maximumText) bytes")
            }
            switch value {
            case .null: attributes[name] = .clear
            case .string(let text) where text.utf8.count > Self.maximumText:
                throw fields.error("attributes.\(name)", "too_long", "at most \(Self.maximumText) bytes")
            case .string, .integer, .number, .bool: attributes[name] = .set(value)
            case .array, .object:
                throw fields.wrongType("attributes.\(name)", "a text, a number, true, false or null")
            }
        }
        return attributes
    }
}

extension RequestError {
    /// The error of a registration after which the device would exceed its bounds.
    package init(_ excess: DeviceExcess) {
        self.init(
            .invalid,
            code: excess.code,
            message: "the device would have more than \(excess.limit): set some to null, or name fewer",
            path: excess.field
        )
    }
}

extension DeviceCapabilities {
    /// The capabilities by their names in the API.
    package static let named: [String: DeviceCapabilities] = [
        "alert": .alert, "badge": .badge, "sound": .sound, "newsstand": .newsstand, "background": .background,
    ]
}

extension JSONFields {
    /// Reads a text that `null` clears; `nil` if the member is absent.
    func update(_ name: String) throws(RequestError) -> Update<String>? {
        if self.nulls.contains(name) { return .clear }
        return try self.string(name, maximum: DeviceRequest.maximumText).map { .set($0) }
    }

    /// Reads a kind of tokens; `nil` if the member is absent.
    package func tokenKind(_ name: String) throws(RequestError) -> TokenKind? {
        let all = TokenKind.allCases.map(\.rawValue)
        guard let text = try self.string(name, maximum: 32) else { return nil }
        if let kind = TokenKind(rawValue: text) { return kind }
        throw self.error(name, "invalid_kind", "use one of \(all.joined(separator: ", "))")
    }

    /// Reads `sandbox` (or `development`) or `production`; `nil` if the member is absent.
    package func environment(_ name: String) throws(RequestError) -> PushEnvironment? {
        try self.value(name, maximum: 32, orElse: "invalid_environment", "use sandbox or production") {
            PushEnvironment(named: $0)
        }
    }
}

extension PushEnvironment {
    /// The environment with this name. Development tools call the sandbox `development`.
    package init?(named name: String) {
        guard let environment = name == "development" ? .sandbox : PushEnvironment(rawValue: name) else { return nil }
        self = environment
    }
}
