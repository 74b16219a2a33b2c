import PushStore

/// The topics of FCM, which are tags of devices.
enum FCMTopic {
    /// The beginning of the tags.
    private static let prefix = "topic:"
    /// The longest name, in bytes: a tag has no more room.
    static let maximumName = AudienceExpression.maximumText - FCMTopic.prefix.utf8.count
    /// The beginning of a topic's name in requests to the Instance ID service.
    private static let path = "/topics/"

    /// Returns the tag of a topic.
    static func tag(_ name: String) -> String { Self.prefix + name }

    /// Returns the topic of a tag; `nil` for a tag of another use.
    static func name(ofTag tag: String) -> String? {
        tag.hasPrefix(Self.prefix) ? String(tag.dropFirst(Self.prefix.count)) : nil
    }

    /// Returns the name in a text with `/topics/` before it or without; `nil` for a text that is no name.
    static func name(_ text: String) -> String? {
        let name = text.hasPrefix(Self.path) ? String(text.dropFirst(Self.path.count)) : text
        let isName = (1...Self.maximumName).contains(name.utf8.count) && name.utf8.allSatisfy(Self.isAllowed)
        return isName ? name : nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-_.~%".utf8.contains(byte)
        }
    }
}
