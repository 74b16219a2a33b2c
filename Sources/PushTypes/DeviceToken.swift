import Foundation

/// The address of one app on one device in one environment, issued by the push service.
///
/// A token is opaque and of variable length: most tokens have 32 bytes, but longer ones exist (APNs reference 1.7). The
/// description never shows the whole token, so a token can be logged.
public struct DeviceToken: Hashable, Sendable {
    /// The maximum length of a token, in bytes. The binary protocol allows 100 bytes, and HTTP/2 documents no limit.
    public static let maximumLength = 512

    /// The bytes of the token, as the push service issued them.
    public let bytes: [UInt8]

    /// Creates a token. Returns `nil` if `bytes` is empty or longer than ``maximumLength``.
    public init?(bytes: [UInt8]) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else { return nil }
        self.bytes = bytes
    }

    /// Creates a placeholder for the token of a push to a channel, because ``Push`` requires one. It is never sent.
    package init(standingFor channel: ChannelID) { self.bytes = Array(channel.text.utf8) }

    /// Creates a token from hexadecimal text in either case, without separators. Returns `nil` for any other text.
    public init?(hex: some StringProtocol) {
        guard hex.utf8.count <= Self.maximumLength * 2, let bytes = Hexadecimal.decode(hex) else { return nil }
        self.init(bytes: bytes)
    }

    /// Creates a token from user input: hexadecimal, even as an old `NSData` description (`<302bd38c c16adf6c>`), or
    /// base64.
    ///
    /// Text that is valid as both is parsed as hexadecimal. `<`, `>` and white space are ignored (APNs reference 1.7).
    /// Returns `nil` for any other text.
    public init?(userInput text: String) {
        guard text.utf8.count <= Self.maximumLength * 4 else { return nil }
        // Nearly all tokens are written in this form.
        if let token = Self(hex: text) {
            self = token
            return
        }
        let cleaned = text.filter { !"<> \t\r\n".contains($0) }
        if let token = Self(hex: cleaned) {
            self = token
        } else if let data = Data(base64Encoded: cleaned) {
            self.init(bytes: Array(data))
        } else {
            return nil
        }
    }

    /// The token in lower-case hexadecimal, as in the path `/3/device/<token>`.
    public var hex: String { Hexadecimal.encode(self.bytes) }
}

extension DeviceToken: CustomStringConvertible {
    /// The first four bytes of the token and its length, for example `302bd38c… (32 bytes)`.
    public var description: String { "\(Hexadecimal.encode(self.bytes.prefix(4)))… (\(self.bytes.count) bytes)" }
}

/// The use for which a device token was issued, which determines the topic of pushes to it (APNs reference 1.6). A push
/// service rejects a push with another topic as `DeviceTokenNotForTopic`, even if the token is valid.
package enum DeviceTokenKind: String, CaseIterable, Hashable, Sendable {
    /// Tokens for alerts, badges, sounds and background updates. The tokens for MDM servers and for passes are of this
    /// kind too, because their topic has no suffix.
    case alert
    case voip
    case complication
    case fileProvider
    case location
    case pushToTalk
    /// Tokens to which pushes that start Live Activities are sent: one token per installation of the app.
    case liveActivityStart
    /// Tokens to which updates and the end of a Live Activity are sent: one token per activity (APNs reference 3.4).
    case liveActivityUpdate
    case widgets
    case controls
    /// A browser's subscription to Web Push, which has no token from the push service. The hash of its URL is used
    /// instead.
    case web

    /// A push type with the same topic as the tokens of this kind.
    package var pushType: PushType {
        switch self {
        case .alert, .web: .alert
        case .voip: .voip
        case .complication: .complication
        case .fileProvider: .fileprovider
        case .location: .location
        case .pushToTalk: .pushtotalk
        case .liveActivityStart, .liveActivityUpdate: .liveactivity
        case .widgets: .widgets
        case .controls: .controls
        }
    }

    /// Returns the topic for an app's tokens of this kind, or `nil` if it would be too long.
    /// - Parameter bundleID: The app's bundle id.
    package func topic(of bundleID: Topic) -> Topic? {
        let suffix = self.pushType.topicSuffix
        return suffix.isEmpty ? bundleID : Topic(bundleID.name + suffix)
    }
}

extension PushType {
    /// Returns the kind of tokens to which a push of this type is sent.
    /// - Parameter startsActivity: `true` for a Live Activity push with the event `start`.
    package func tokenKind(startsActivity: Bool = false) -> DeviceTokenKind {
        switch self {
        case .alert, .background, .mdm: .alert
        case .complication: .complication
        case .controls: .controls
        case .fileprovider: .fileProvider
        case .liveactivity: startsActivity ? .liveActivityStart : .liveActivityUpdate
        case .location: .location
        case .pushtotalk: .pushToTalk
        case .voip: .voip
        case .widgets: .widgets
        }
    }
}
