package import Foundation
package import PushStore
package import PushSupport
package import PushTypes

/// A request to register a device, read from JSON.
package enum DeviceRequest {
    /// Longest user id, tag, locale, time zone, version, installation, attribute name or text, in bytes.
    package static let maximumText = AudienceExpression.maximumText
    /// Tags of one device, and attributes of one registration. What is stored of a device has bounds besides, see
    /// ``DeviceBounds``.
    package static let maximumTags = DeviceBounds.tags
    package static let maximumAttributes = DeviceBounds.attributes

    package static let members: Set<String> = [
        "token", "environment", "user", "locale", "timeZone", "appVersion", "installation", "capabilities", "tags",
        "attributes",
    ]

    /// - Throws: ``RequestError`` that names the member at fault.
    package static func parse(_ body: Data) throws(RequestError) -> DeviceRegistration {
        try Self.registration(JSONFields(parsing: body, known: Self.members))
    }

    /// - Throws: as ``parse(_:)``.
    package static func registration(_ fields: JSONFields) throws(RequestError) -> DeviceRegistration {
        let text = try fields.requiredString("token", maximum: DeviceToken.maximumLength * 4)
        guard let token = DeviceToken(userInput: text) else {
            throw fields.refusal("token", "invalid_token", "a device token is hex or base64, 1 to 512 bytes")
        }
        var registration = DeviceRegistration(
            environment: try fields.environment("environment") ?? .production,
            token: token
        )
        registration.user = try fields.update("user")
        registration.locale = try Self.locale(fields)
        registration.timeZone = try Self.timeZone(fields)
        registration.appVersion = try Self.appVersion(fields)
        registration.installation = try fields.string("installation", maximum: Self.maximumText)
        registration.capabilities = try Self.capabilities(fields)
        registration.tags = try fields.strings("tags", count: Self.maximumTags, maximum: Self.maximumText)
            .map { Set($0) }
        registration.attributes = try Self.attributes(fields)
        return registration
    }

    /// With hyphens, as BCP 47 has it: `pt_BR` becomes `pt-BR`.
    private static func locale(_ fields: JSONFields) throws(RequestError) -> Update<String>? {
        guard case .set(let text)? = try fields.update("locale") else { return try fields.update("locale") }
        return .set(text.replacingOccurrences(of: "_", with: "-"))
    }

    private static func timeZone(_ fields: JSONFields) throws(RequestError) -> Update<String>? {
        let update = try fields.update("timeZone")
        if case .set(let name)? = update, TimeZone(named: name) == nil {
            throw fields.refusal("timeZone", "invalid_time_zone", "use a name such as Europe/Berlin")
        }
        return update
    }

    private static func appVersion(_ fields: JSONFields) throws(RequestError) -> Update<String>? {
        let update = try fields.update("appVersion")
        if case .set(let text)? = update, AppVersion(text) == nil {
            throw fields.refusal("appVersion", "invalid_version", "use numbers such as 2.10.1")
        }
        return update
    }

    private static func capabilities(_ fields: JSONFields) throws(RequestError) -> DeviceCapabilities? {
        let all = DeviceCapabilities.named
        guard let names = try fields.strings("capabilities", count: all.count, maximum: 32) else { return nil }
        var capabilities: DeviceCapabilities = []
        for (index, name) in names.enumerated() {
            guard let capability = all[name] else {
                let known = all.keys.sorted().joined(separator: ", ")
                throw fields.refusal("capabilities[\(index)]", "invalid_capability", "use some of \(known)")
            }
            capabilities.insert(capability)
        }
        return capabilities
    }

    private static func attributes(_ fields: JSONFields) throws(RequestError) -> [String: Update<JSONValue>] {
        guard let members = try fields.object("attributes") else { return [:] }
        guard members.count <= Self.maximumAttributes else {
            throw fields.refusal("attributes", "too_many", "at most \(Self.maximumAttributes) attributes")
        }
        var attributes: [String: Update<JSONValue>] = [:]
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            guard (1...Self.maximumText).contains(name.utf8.count) else {
                throw fields.refusal("attributes", "invalid_value", "a name has 1 to \(Self.maximumText) bytes")
            }
            switch value {
            case .null: attributes[name] = .clear
            case .string(let text) where text.utf8.count > Self.maximumText:
                throw fields.refusal("attributes.\(name)", "too_long", "at most \(Self.maximumText) bytes")
            case .string, .integer, .number, .bool: attributes[name] = .set(value)
            case .array, .object:
                throw fields.wrongType("attributes.\(name)", "a text, a number, true, false or null")
            }
        }
        return attributes
    }
}

extension RequestError {
    /// The answer to a registration after which the device would hold more than it may.
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
    /// By the names that the API uses.
    package static let named: [String: DeviceCapabilities] = [
        "alert": .alert, "badge": .badge, "sound": .sound, "newsstand": .newsstand,
    ]
}

extension JSONFields {
    /// A text of which `null` means none from now on; `nil` if the member is not there.
    func update(_ name: String) throws(RequestError) -> Update<String>? {
        if self.nulls.contains(name) { return .clear }
        return try self.string(name, maximum: DeviceRequest.maximumText).map { .set($0) }
    }

    /// `sandbox` (or `development`) or `production`.
    package func environment(_ name: String) throws(RequestError) -> PushEnvironment? {
        guard let text = try self.string(name, maximum: 32) else { return nil }
        guard let environment = PushEnvironment(named: text) else {
            throw self.refusal(name, "invalid_environment", "use sandbox or production")
        }
        return environment
    }
}

extension PushEnvironment {
    /// By its name, or by what development tools call the sandbox.
    package init?(named name: String) {
        guard let environment = name == "development" ? .sandbox : PushEnvironment(rawValue: name) else { return nil }
        self = environment
    }
}
