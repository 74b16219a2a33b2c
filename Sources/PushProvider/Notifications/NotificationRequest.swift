package import Foundation
package import PushStore
package import PushSupport
package import PushTypes

/// A request to send a notification, read from JSON and checked against the rules of the push service, so that what it
/// would refuse for certain is refused before anything is stored (reference 1.5, 1.6, 3).
package struct NotificationRequest: Hashable, Sendable {
    /// Explicit tokens in one request.
    package static let maximumTokens = 1000

    package var content: ContentDefinition
    package var audience: Audience
    package var environment: PushEnvironment?
    package var guarantee: NotificationRecord.Guarantee
    package var lane: NotificationRecord.Lane
    /// `nil` is at once.
    package var delivery: DeliveryTime?
    /// `nil` is as fast as possible.
    package var pace: PaceSettings?

    package static let members = ContentDefinition.members.union([
        "to", "environment", "guarantee", "urgent", "when", "pace",
    ])

    /// - Throws: ``RequestError`` that names the member at fault.
    package init(parsing body: Data, bundleID: Topic, now: Timestamp) throws(RequestError) {
        try self.init(JSONFields(parsing: body, known: Self.members), bundleID: bundleID, now: now)
    }

    /// - Throws: as ``init(parsing:bundleID:now:)``.
    package init(_ fields: JSONFields, bundleID: Topic, now: Timestamp) throws(RequestError) {
        self.environment = try fields.environment("environment")
        self.audience = try Self.audience(fields, now: now)
        // What is sent later is the state of another moment.
        let isSentLater = fields.members["when"] != nil
        self.content = try ContentDefinition(fields, bundleID: bundleID, now: isSentLater ? nil : now)
        self.guarantee = try Self.guarantee(fields)
        self.delivery = try DeliveryTime.parse(
            "when",
            in: fields,
            acceptedAt: now,
            expiration: self.content.expiration
        )
        self.pace = try PaceSettings.parse("pace", in: fields)
        self.lane = try Self.lane(fields, self.audience, isPaced: self.pace != nil)
    }

    private static func audience(_ fields: JSONFields, now: Timestamp) throws(RequestError) -> Audience {
        let known = AudienceExpression.members.union(["tokens"])
        guard let to = try fields.fields("to", known: known) else {
            throw fields.refusal("to", "missing_field", "say to whom, for example a user, a tag or tokens")
        }
        guard let texts = try to.strings("tokens", count: Self.maximumTokens, maximum: DeviceToken.maximumLength * 4)
        else { return .devices(try AudienceExpression(to, now: now)) }
        guard to.members.count == 1 else {
            throw to.refusal("tokens", "conflicting_field", "tokens stand alone: leave the conditions out")
        }
        guard !texts.isEmpty else { throw to.refusal("tokens", "invalid_value", "name at least one token") }
        var tokens: [DeviceToken] = []
        var seen: Set<DeviceToken> = []
        for (index, text) in texts.enumerated() {
            guard let token = DeviceToken(userInput: text) else {
                throw to.refusal("tokens[\(index)]", "invalid_token", "a device token is hex or base64")
            }
            if seen.insert(token).inserted { tokens.append(token) }
        }
        return .tokens(tokens)
    }

    private static func guarantee(_ fields: JSONFields) throws(RequestError) -> NotificationRecord.Guarantee {
        guard let text = try fields.string("guarantee", maximum: 32) else { return .atLeastOnce }
        guard let guarantee = NotificationRecord.Guarantee(rawValue: text) else {
            throw fields.refusal("guarantee", "invalid_value", "use atLeastOnce or atMostOnce")
        }
        return guarantee
    }

    /// Named tokens and single users do not wait for campaigns, unless the request says so.
    private static func lane(
        _ fields: JSONFields,
        _ audience: Audience,
        isPaced: Bool
    ) throws(RequestError) -> NotificationRecord.Lane {
        let isUrgent = try fields.bool("urgent")
        if isPaced, isUrgent == true {
            throw fields.refusal("urgent", "conflicting_field", "what is sent at a pace is not urgent")
        }
        let isSmall =
            switch audience {
            case .tokens, .devices(.user), .devices(.token): true
            case .devices: false
            }
        return isUrgent ?? (isSmall && !isPaced) ? .urgent : .bulk
    }
}
