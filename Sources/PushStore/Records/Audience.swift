package import PushSupport
package import PushTypes

/// To whom a notification goes.
package enum Audience: Hashable, Sendable {
    /// These tokens, registered or not.
    case tokens([DeviceToken])
    /// The active devices for which this holds.
    case devices(AudienceExpression)
}

/// A condition on a device.
package indirect enum AudienceExpression: Hashable, Sendable {
    case everyone
    case token(DeviceToken)
    case user(String)
    case tag(String)
    /// An attribute with this value; a number, a text or a truth value.
    case attribute(name: String, Comparison, JSONValue)
    /// Any value at all.
    case hasAttribute(String)
    /// A language, with or without a region: `pt` matches `pt-BR` too.
    case locale(String)
    /// By the parts of the version, as numbers.
    case appVersion(Comparison, AppVersion)
    case timeZone(String)
    /// The moment of the latest registration.
    case lastSeen(Comparison, Timestamp)
    case and([AudienceExpression])
    case or([AudienceExpression])
    case not(AudienceExpression)

    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case equal = "is"
        case atLeast
        case above
        case atMost
        case below
    }
}

/// A version such as `2.10.1`, comparable part by part.
package struct AppVersion: Hashable, Sendable, Comparable {
    package let text: String
    /// Three parts of 20 bits: 2.10.1 is less than 2.11. Further parts do not count, larger ones saturate.
    package let number: Int64

    /// `nil` unless the text begins with a number; what follows the numbers, such as `-beta`, does not count.
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
