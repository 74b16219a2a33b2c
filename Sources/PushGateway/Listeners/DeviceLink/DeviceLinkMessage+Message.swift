import PushTypes
import PushWire

extension DeviceLinkMessage {
    /// Makes the packet of a routed message.
    /// - Parameters:
    ///   - baseToken: The device's base token, which a broadcast names instead of a device token.
    ///   - hasExtensions: Whether the device asked for fields 129 to 133 (device link reference 6).
    init(_ message: Message, id: UInt32, baseToken: [UInt8], hasExtensions: Bool) {
        let notification = message.notification
        self.init(
            token: message.channel == nil ? message.token : baseToken,
            topic: message.topicHash,
            payload: notification.payload,
            messageID: id,
            expiration: message.expiresAt.map { UInt32(clamping: $0.seconds) } ?? 0,
            sentAt: message.acceptedAt
        )
        guard hasExtensions else { return }
        self.apnsID = notification.id
        self.pushType = notification.pushType?.rawValue
        self.priority = notification.priority.rawValue
        self.collapseID = notification.collapseID
        self.channelID = message.channel?.id
    }
}
