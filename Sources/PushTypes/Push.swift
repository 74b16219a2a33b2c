/// One notification for one device token.
public struct Push: Hashable, Sendable {
    /// The notification with its headers and payload.
    public var notification: PushNotification
    /// The device token to which the notification is sent.
    public var token: DeviceToken
    /// The header fields that are sent in addition to those of the notification. A field of this list replaces that of
    /// the notification with the same name.
    public var additionalHeaders: [HeaderField]

    /// Creates a push of a notification to a token.
    public init(_ notification: PushNotification, to token: DeviceToken, additionalHeaders: [HeaderField] = []) {
        (self.notification, self.token, self.additionalHeaders) = (notification, token, additionalHeaders)
    }
}

/// A header field of a request.
public struct HeaderField: Hashable, Sendable {
    /// The maximum length of a name and of a value, in bytes. A longer field cannot be created.
    public static let maximumLength = 1024

    /// The name of the field, in lower case (RFC 9113 section 8.2.1).
    public let name: String
    /// The value of the field, which consists of visible ASCII characters, spaces and tabs.
    public let value: String

    /// Creates a field, with the name in lower case.
    ///
    /// Returns `nil` unless `name` is a token (RFC 9110 section 5.6.2), `value` consists of visible ASCII characters
    /// with spaces and tabs only between them, and both have at most ``maximumLength`` bytes. It also returns `nil` for
    /// fields that HTTP/2 forbids or that the sender itself writes, such as `connection` and `content-length` (RFC 9113
    /// section 8.2).
    public init?(name: String, value: String) {
        let lowercased = name.lowercased()
        guard (1...Self.maximumLength).contains(lowercased.utf8.count), value.utf8.count <= Self.maximumLength,
            lowercased.utf8.allSatisfy(Self.isTokenCharacter),
            value.utf8.allSatisfy({ Self.isVisible($0) || $0 == 0x20 || $0 == 0x09 }),
            value.utf8.first.map(Self.isVisible) ?? true, value.utf8.last.map(Self.isVisible) ?? true,
            !Self.forbiddenNames.contains(lowercased)
        else { return nil }
        self.name = lowercased
        self.value = value
    }

    /// Creates the `:path` field of a request that is not for a device.
    package init(path: String) { (self.name, self.value) = (Self.path, path) }

    /// Creates a field of a broadcast. The value must consist of visible ASCII characters.
    package init(of name: String, _ value: String) { (self.name, self.value) = (name, value) }

    /// The name of the pseudo-header field for the path, which no caller can set.
    package static let path = ":path"

    private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7e).contains(byte) }

    private static let forbiddenNames: Set = [
        "connection", "content-length", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// The transmission of one push: the connection that carried it, and the time until its outcome was known.
package struct PushTrip: Hashable, Sendable {
    /// The index of the connection among those of one call of the sender, or of a page of recipients, which takes
    /// several calls. It is negative if no connection carried the push.
    package var connection: Int32
    /// The time from the call that sent the push until its outcome was known, in milliseconds.
    package var milliseconds: Int32

    package init(connection: Int32 = -1, milliseconds: Int32 = 0) {
        (self.connection, self.milliseconds) = (connection, milliseconds)
    }

    /// Returns the transmission with its connection index renumbered from one call of the sender to a page of
    /// recipients, which takes several calls.
    /// - Parameter first: The index that the first connection of the call has among those of the page.
    package func movedBehind(_ first: Int32) -> PushTrip {
        guard self.connection >= 0 else { return self }
        let (sum, overflow) = self.connection.addingReportingOverflow(first)
        return PushTrip(connection: overflow ? -1 : sum, milliseconds: self.milliseconds)
    }
}
