public import NIOCore

/// A push to a channel, which updates or ends the Live Activities that follow it (APNs reference 4.2).
public struct Broadcast: Hashable, Sendable {
    /// The maximum size of a payload, in bytes (APNs reference 3.6).
    public static let maximumPayloadSize = PushNotification.maximumBroadcastSize

    /// The channel to which the broadcast is sent.
    public var channel: ChannelID
    /// The bundle id of the channel's app.
    public var bundleID: Topic
    /// The header `apns-request-id`: a UUID in canonical form, in the letter case of the sender.
    public var id: String
    /// The header `apns-priority`, the urgency of the delivery.
    public var priority: Priority
    /// The header `apns-expiration`, the time until which the broadcast is stored for offline devices. A channel that
    /// stores nothing allows only ``Expiration/immediate``.
    public var expiration: Expiration
    /// The JSON text of the event, `update` or `end`, of a Live Activity. It is sent unchanged.
    public var payload: ByteBuffer

    /// Creates a broadcast to `channel` of the app `bundleID`, with a payload that is a `ByteBuffer`.
    public init(
        to channel: ChannelID,
        of bundleID: Topic,
        id: String = PushNotification.makeID(),
        priority: Priority = .immediate,
        expiration: Expiration = .immediate,
        payload: ByteBuffer
    ) {
        (self.channel, self.bundleID, self.id) = (channel, bundleID, id)
        (self.priority, self.expiration, self.payload) = (priority, expiration, payload)
    }

    /// Creates a broadcast to `channel` of the app `bundleID`, with a payload that is a string of JSON text.
    public init(
        to channel: ChannelID,
        of bundleID: Topic,
        id: String = PushNotification.makeID(),
        priority: Priority = .immediate,
        expiration: Expiration = .immediate,
        payload: String
    ) {
        let buffer = ByteBuffer(string: payload)
        self.init(to: channel, of: bundleID, id: id, priority: priority, expiration: expiration, payload: buffer)
    }
}

extension Push {
    /// Creates the push for a broadcast. Additional headers give the request another path and name the channel, so that
    /// ``Push`` needs no property for it.
    package init(_ broadcast: Broadcast) {
        let notification = PushNotification(
            id: broadcast.id,
            topic: broadcast.bundleID,
            pushType: .liveactivity,
            priority: broadcast.priority,
            expiration: broadcast.expiration,
            payload: broadcast.payload
        )
        self.init(
            notification,
            to: DeviceToken(standingFor: broadcast.channel),
            additionalHeaders: [
                HeaderField(path: "/4/broadcasts/apps/\(broadcast.bundleID.name)"),
                HeaderField(of: "apns-request-id", broadcast.id),
                HeaderField(of: "apns-channel-id", broadcast.channel.text),
            ]
        )
    }
}

/// The id of a broadcast channel, which the push service has assigned: opaque base64 text (APNs reference 4.1).
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length of a channel id, in bytes.
    public static let maximumLength = 256

    /// The value of the header `apns-channel-id`.
    public let text: String

    /// Creates a channel id. Returns `nil` unless `text` is 1 to 256 characters of base64, including padding.
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

/// A channel's setting for which broadcasts the push service stores for devices that are offline. It is set when the
/// channel is created, and cannot be changed later.
public enum ChannelStorage: Int, Hashable, Sendable, CaseIterable {
    /// The setting to store no broadcast, so that only online devices receive it. The push service allows more
    /// broadcasts on such a channel.
    case none = 0
    /// The setting to store the newest broadcast, for at most 8 hours.
    case newest = 1
}
