public import PushTypes

/// One notification for one device, on its way to the push service.
public struct Push: Hashable, Sendable {
    public var notification: PushNotification
    public var token: DeviceToken
    /// Header fields besides those that `notification` has; one with the same name replaces it.
    public var additionalHeaders: [HeaderField]

    public init(_ notification: PushNotification, to token: DeviceToken, additionalHeaders: [HeaderField] = []) {
        self.notification = notification
        self.token = token
        self.additionalHeaders = additionalHeaders
    }
}

/// A request header field.
public struct HeaderField: Hashable, Sendable {
    /// Longest name and longest value, in bytes.
    public static let maximumLength = 1024

    /// In lower case, as HTTP/2 wants it.
    public let name: String
    public let value: String

    /// `nil` unless `name` is a token of RFC 9110 section 5.6.2 and `value` is visible ASCII, spaces and tabs, both at
    /// most ``maximumLength`` long. Upper case in the name becomes lower case.
    public init?(name: String, value: String) {
        let lowercased = name.lowercased()
        guard (1...Self.maximumLength).contains(lowercased.utf8.count), value.utf8.count <= Self.maximumLength,
            lowercased.utf8.allSatisfy(Self.isTokenCharacter),
            value.utf8.allSatisfy({ (0x20...0x7e).contains($0) || $0 == 0x09 })
        else { return nil }
        self.name = lowercased
        self.value = value
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
