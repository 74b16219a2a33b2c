public import Foundation
import NIOCore
import PushTypes
import PushWire

/// A notification that arrived at the device.
public struct ReceivedNotification: Hashable, Sendable {
    /// The device token in lower-case hexadecimal; the device's base token for a broadcast.
    public var deviceToken: String
    /// The topic; `nil` if the device did not ask for it.
    public var topic: String?
    /// The JSON text of the provider, unchanged.
    public var payload: Data
    /// The time until which the service would have stored it; `nil` for one that was not to be stored.
    public var expiresAt: Date?
    /// The time at which the service accepted it.
    public var sentAt: Date
    /// `apns-id`; `nil` from a service other than Martlet's gateway, as are the members below.
    public var apnsID: String?
    /// `apns-push-type`; `nil` if the provider sent none.
    public var pushType: String?
    /// `apns-priority`: 10, 5 or 1.
    public var priority: Int?
    /// `apns-collapse-id`; `nil` if the provider sent none.
    public var collapseID: String?
    /// `apns-channel-id` of a broadcast; `nil` for other notifications.
    public var channelID: String?

    init(_ message: DeviceLinkMessage, topic: Topic?) {
        self.deviceToken = Hexadecimal.encode(message.token)
        self.topic = topic?.name
        self.payload = Data(message.payload.readableBytesView)
        self.expiresAt = message.expiration == 0 ? nil : Date(timeIntervalSince1970: Double(message.expiration))
        self.sentAt = Date(timeIntervalSince1970: Double(message.sentAt.milliseconds) / 1000)
        self.apnsID = message.apnsID
        self.pushType = message.pushType
        self.priority = message.priority.map(Int.init)
        self.collapseID = message.collapseID
        self.channelID = message.channelID
    }
}
