package import Foundation
package import PushProtocol
package import PushStore

/// A request to send a notification, read from JSON and checked against the rules of the push service, so that what it
/// would refuse for certain is refused before anything is stored (reference 1.5, 1.6, 3).
package struct NotificationRequest: Hashable, Sendable {
    /// Explicit tokens in one request.
    package static let maximumTokens = 1000

    package var content: NotificationContent
    package var audience: Audience
    package var environment: PushEnvironment?

    private static let members: Set<String> = [
        "to", "alert", "badge", "sound", "data", "payload", "pushType", "priority", "expiration", "collapseId",
        "environment",
    ]

    /// - Throws: ``APIRefusal`` that names the member at fault.
    package init(parsing body: Data, bundleID: Topic) throws(APIRefusal) {
        let fields = try JSONFields(parsing: body, known: Self.members)
        self.environment = try fields.environment("environment")
        self.audience = try Self.audience(fields)
        let pushType = try Self.pushType(fields)
        guard let topic = Topic(bundleID.name + pushType.topicSuffix) else {
            throw fields.refusal("pushType", "invalid_topic", "the topic would be too long")
        }
        let payload = try PayloadBuilder(fields).payload(for: pushType)
        self.content = NotificationContent(
            topic: topic,
            pushType: pushType,
            priority: try Self.priority(fields, pushType: pushType),
            expiration: try Self.expiration(fields),
            collapseID: try fields.string("collapseId", maximum: PushNotification.maximumCollapseIDLength),
            payload: payload
        )
    }

    private static func audience(_ fields: JSONFields) throws(APIRefusal) -> Audience {
        guard let to = try fields.fields("to", known: ["tokens", "user", "tag", "all"]) else {
            throw fields.refusal("to", "missing_field", "say to whom: tokens, user, tag or all")
        }
        guard to.members.count == 1 else {
            throw fields.refusal("to", "invalid_value", "give exactly one of tokens, user, tag and all")
        }
        if let user = try to.string("user", maximum: DeviceRequest.maximumText) { return .user(user) }
        if let tag = try to.string("tag", maximum: DeviceRequest.maximumText) { return .tag(tag) }
        if let texts = try to.strings("tokens", count: Self.maximumTokens, maximum: 2048) {
            guard !texts.isEmpty else { throw to.refusal("tokens", "invalid_value", "name at least one token") }
            var tokens: [DeviceToken] = []
            for (index, text) in texts.enumerated() {
                guard let token = DeviceToken(userInput: text) else {
                    throw to.refusal("tokens[\(index)]", "invalid_token", "a device token is hex or base64")
                }
                if !tokens.contains(token) { tokens.append(token) }
            }
            return .tokens(tokens)
        }
        guard to.members["all"] == .bool(true) else { throw to.refusal("all", "invalid_value", "it can only be true") }
        return .all
    }

    private static func pushType(_ fields: JSONFields) throws(APIRefusal) -> PushType {
        guard let text = try fields.string("pushType", maximum: 64) else { return .alert }
        guard let type = PushType(rawValue: text) else {
            let known = PushType.allCases.map(\.rawValue).joined(separator: ", ")
            throw fields.refusal("pushType", "invalid_push_type", "use one of \(known)")
        }
        return type
    }

    private static func priority(_ fields: JSONFields, pushType: PushType) throws(APIRefusal) -> Priority {
        guard let value = try fields.integer("priority", in: 0...255) else {
            return pushType == .background ? .powerAware : .immediate
        }
        guard let priority = UInt8(exactly: value).flatMap(Priority.init(rawValue:)) else {
            throw fields.refusal("priority", "invalid_priority", "use 10, 5 or 1")
        }
        guard pushType != .background || priority == .powerAware else {
            throw fields.refusal("priority", "invalid_priority", "a background push has priority 5 only")
        }
        return priority
    }

    private static func expiration(_ fields: JSONFields) throws(APIRefusal) -> Expiration {
        // Thirty days are 2,592,000 s: a smaller number is a duration by mistake, not a moment.
        guard let seconds = try fields.integer("expiration", in: 0...4_102_444_800) else { return .servicePolicy }
        guard seconds == 0 || seconds > 1_000_000_000 else {
            throw fields.refusal("expiration", "invalid_expiration", "it is a moment in UNIX seconds, not a duration")
        }
        return seconds == 0 ? .immediate : .at(seconds: seconds)
    }
}

extension JSONFields {
    /// `sandbox` (or `development`) or `production`.
    func environment(_ name: String) throws(APIRefusal) -> PushEnvironment? {
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
