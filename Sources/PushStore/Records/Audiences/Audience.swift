package import PushSupport
package import PushTypes

/// The audience of a notification.
package enum Audience: Hashable, Sendable {
    /// Named tokens, registered or not.
    case tokens([DeviceToken])
    /// The active devices for which the expression holds.
    case devices(AudienceExpression)
    /// The devices that follow a channel. Only the push service knows them: the channel is the one recipient.
    case channel(BroadcastChannel)
}

/// A condition on a device.
package indirect enum AudienceExpression: Hashable, Sendable {
    case everyone
    case token(DeviceToken)
    case user(String)
    case tag(String)
    /// An attribute with such a value: a number, a text or a boolean.
    case attribute(name: String, Comparison, JSONValue)
    /// An attribute with any value.
    case hasAttribute(String)
    /// A language, with or without a region: `pt` matches `pt-BR` too.
    case locale(String)
    /// The version of the app, compared part by part as numbers.
    case appVersion(Comparison, AppVersion)
    case timeZone(String)
    /// A Live Activity, by the app's id of it.
    case activity(String)
    /// The time of the latest registration.
    case lastSeen(Comparison, Timestamp)
    /// The outcome of an earlier notification. No request names it.
    case outcomes(RecipientOutcomes)
    case and([AudienceExpression])
    case or([AudienceExpression])
    case not(AudienceExpression)

    /// A comparison of a stored value with that of a condition.
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case equal = "is"
        case atLeast
        case above
        case atMost
        case below
    }
}

extension AudienceExpression {
    /// Indicates whether a condition of the expression is on the Live Activity of a token.
    package var namesActivity: Bool {
        switch self {
        case .activity: true
        case .and(let expressions), .or(let expressions): expressions.contains(where: \.namesActivity)
        case .not(let expression): expression.namesActivity
        default: false
        }
    }
}

/// A version such as `2.10.1`, comparable part by part.
package struct AppVersion: Hashable, Sendable, Comparable {
    package let text: String
    /// Three parts of 20 bits, so that 2.10.1 is less than 2.11. Further parts are ignored, larger ones saturate.
    package let number: Int64

    /// Reads a version; `nil` unless the text begins with a number. A suffix such as `-beta` is ignored.
    package init?(_ text: String) {
        var parts: [Int64] = []
        for part in text.split(separator: ".", omittingEmptySubsequences: false).prefix(3) {
            let digits = part.prefix { $0.isASCII && $0.isNumber }
            guard !digits.isEmpty else { break }
            parts.append(min(Int64(digits) ?? Self.largestPart, Self.largestPart))
            guard digits.endIndex == part.endIndex else { break }
        }
        guard !parts.isEmpty else { return nil }
        self.text = text
        self.number = (0..<3).reduce(0) { $0 << 20 | (parts.indices.contains($1) ? parts[$1] : 0) }
    }

    private static let largestPart: Int64 = 1 << 20 - 1

    package static func < (left: AppVersion, right: AppVersion) -> Bool { left.number < right.number }
}
