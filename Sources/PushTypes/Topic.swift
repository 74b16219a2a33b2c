/// What a notification is about and which app may receive it: a bundle id, with a suffix for some push types.
public struct Topic: Hashable, Sendable, CustomStringConvertible {
    /// Longest topic accepted, in bytes (bundle ids end at 155; the longest suffix has 24).
    public static let maximumLength = 255

    public let name: String

    /// `nil` unless `name` is 1 to 255 letters, digits, dots, hyphens or underscores.
    public init?(_ name: some StringProtocol) {
        let utf8 = name.utf8
        guard !utf8.isEmpty, utf8.count <= Self.maximumLength else { return nil }
        let allowed = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard allowed else { return nil }
        self.name = String(name)
    }

    /// This topic without the suffix of a push type: the app's bundle id.
    public var bundleID: Topic {
        for type in PushType.allCases where !type.topicSuffix.isEmpty && self.name.hasSuffix(type.topicSuffix) {
            return Topic(self.name.dropLast(type.topicSuffix.count)) ?? self
        }
        return self
    }

    /// The bundle id and every topic derived from it by a suffix of reference 1.6.
    public var derivedTopics: [Topic] {
        var suffixes = Set<String>()
        return PushType.allCases.compactMap { type in
            suffixes.insert(type.topicSuffix).inserted ? Topic(self.name + type.topicSuffix) : nil
        }
    }

    public var description: String { self.name }
}
