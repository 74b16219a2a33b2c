public import NIOCore

/// An update of the Live Activities of everybody who follows a channel, or their end (reference 4.2).
public struct Broadcast: Hashable, Sendable {
    /// The largest payload, in bytes (reference 3.6).
    public static let maximumPayloadSize = PushNotification.maximumBroadcastSize

    /// The channel.
    public var channel: ChannelID
    /// The bundle id of the channel's app.
    public var bundleID: Topic
    /// The header `apns-request-id`: a UUID in canonical form, in the letter case of the sender.
    public var id: String
    /// The header `apns-priority`.
    public var priority: Priority
    /// The header `apns-expiration`. A channel that stores nothing allows ``Expiration/immediate`` only.
    public var expiration: Expiration
    /// The JSON text of a Live Activity's event `update` or `end`, which is sent as it is.
    public var payload: ByteBuffer

    /// Creates a broadcast with a payload in memory of swift-nio.
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

    /// Creates a broadcast with a payload in JSON text.
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
    /// Makes the request for a broadcast: another path, with the channel in a header instead of a token in the path.
    ///
    /// Fields that pushes do not have make it one, so that the pushes to devices carry nothing more.
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
