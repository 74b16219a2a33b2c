public import Foundation
import NIOCore
import PushTypes
import PushWire

/// A notification as it arrived at the device.
public struct ReceivedNotification: Hashable, Sendable {
    /// Lower-case hexadecimal; the device's base token for a broadcast.
    public var deviceToken: String
    /// `nil` if it is none of the topics the device asked for.
    public var topic: String?
    /// The JSON text as the provider sent it.
    public var payload: Data
    /// Until when the service would have kept it; `nil` when it was not to be stored.
    public var expiresAt: Date?
    /// When the service took it.
    public var sentAt: Date
    /// `apns-id`; `nil` from a service that does not tell.
    public var apnsID: String?
    public var pushType: String?
    public var priority: Int?
    public var collapseID: String?
    /// `apns-channel-id` of a broadcast.
    public var channelID: String?

    init(_ message: DeviceLinkMessage, topic: Topic?) {
        self.deviceToken = Hexadecimal.encode(message.token)
        self.topic = topic?.name
        self.payload = Data(message.payload.readableBytesView)
        self.expiresAt = message.expiry == 0 ? nil : Date(timeIntervalSince1970: Double(message.expiry))
        self.sentAt = Date(timeIntervalSince1970: Double(message.sentAt.milliseconds) / 1000)
        self.apnsID = message.apnsID
        self.pushType = message.pushType
        self.priority = message.priority.map(Int.init)
        self.collapseID = message.collapseID
        self.channelID = message.channelID
    }
}
