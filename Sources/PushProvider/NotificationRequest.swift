package import Foundation
package import PushProtocol
package import PushStore

/// A request to send a notification, read from JSON and checked against the rules of the push service, so that what it
/// would refuse for certain is refused before anything is stored (reference 1.5, 1.6, 3).
package struct NotificationRequest: Hashable, Sendable {
    /// Explicit tokens in one request.
    package static let maximumTokens = 1000

    package var definition: ContentDefinition
    package var audience: Audience
    package var environment: PushEnvironment?

    private static let members = ContentDefinition.members.union(["to", "environment"])

    /// - Throws: ``APIRefusal`` that names the member at fault.
    package init(parsing body: Data, bundleID: Topic) throws(APIRefusal) {
        let fields = try JSONFields(parsing: body, known: Self.members)
        self.environment = try fields.environment("environment")
        self.audience = try Self.audience(fields)
        self.definition = try ContentDefinition(fields, bundleID: bundleID)
    }

    /// As the store keeps it.
    package var content: NotificationContent {
        NotificationContent(
            topic: self.definition.topic,
            pushType: self.definition.pushType,
            priority: self.definition.priority,
            expiration: self.definition.expiration,
            collapseID: self.definition.collapseID,
            payload: self.definition.payload
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
