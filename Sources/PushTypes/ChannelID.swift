/// The id of a broadcast channel, as the push service made it: opaque base64 text (reference 4.1).
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The longest id that is accepted, in bytes.
    public static let maximumLength = 256

    /// The value of the header `apns-channel-id`.
    public let text: String

    /// Creates an id, or returns `nil` unless `text` is 1 to 256 characters of base64, padding included.
    public init?(_ text: some StringProtocol) {
        guard (1...Self.maximumLength).contains(text.utf8.count), text.utf8.allSatisfy(Self.isBase64)
        else { return nil }
        self.text = String(text)
    }

    public var description: String { self.text }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
            UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// The broadcasts that the push service stores for devices that are offline. It never changes for a channel.
public enum ChannelStorage: Int, Hashable, Sendable, CaseIterable {
    /// None: only devices that are online get a broadcast. The service allows more broadcasts then.
    case none = 0
    /// The newest one, for at most 8 hours.
    case newest = 1
}
