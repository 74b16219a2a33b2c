import Foundation
import PushTypes

/// Something that happened to a notification or a device, in Apple's words where Apple has one (reference 7.3).
struct Event: Hashable, Sendable {
    /// The raw value is what the blocks of the store hold: never renumber.
    enum Name: UInt8, CaseIterable, Sendable {
        case received = 1
        case delivered = 2
        case deliveredFromStorage = 3
        case storedOffline = 4
        case storedPower = 5
        case replaced = 6
        case expired = 7
        case unregistered = 8
        case unregisteredFromStorage = 9
        case disabled = 10
        case disabledFromStorage = 11
        case refusedByDevice = 12
        case refusedTooMany = 13
        case storedUnfiltered = 14
        case activated = 20
        case connected = 21
        case disconnected = 22
        case tokenMinted = 23
        case appRemoved = 24
        case deleted = 25
        case revoked = 26
        case subscribed = 27
        case unsubscribed = 28

        var text: String {
            switch self {
            case .received: "Received by APNs"
            case .delivered: "Delivered to Device"
            case .deliveredFromStorage: "Delivered to Device (From Storage)"
            case .storedOffline: "Stored – Device Offline"
            case .storedPower: "Stored – Power Considerations"
            case .replaced: "Replaced by Newer Notification"
            case .expired: "Discarded – Expired"
            case .unregistered: "Discarded – Token Unregistered"
            case .unregisteredFromStorage: "Discarded – Token Unregistered (From Storage)"
            case .disabled: "Discarded – Disabled"
            case .disabledFromStorage: "Discarded – Disabled (From Storage)"
            case .refusedByDevice: "Discarded – Refused by Device"
            case .refusedTooMany: "Refused – Too Many Requests"
            case .storedUnfiltered: "Stored – Topic Not in Filter"
            case .activated: "Device Activated"
            case .connected: "Device Connected"
            case .disconnected: "Device Disconnected"
            case .tokenMinted: "Device Token Minted"
            case .appRemoved: "App Removed"
            case .deleted: "Device Deleted"
            case .revoked: "Device Certificate Revoked"
            case .subscribed: "Channel Subscribed"
            case .unsubscribed: "Channel Unsubscribed"
            }
        }

        /// For programs: lower case, underscores.
        var code: String {
            switch self {
            case .received: "received"
            case .delivered: "delivered"
            case .deliveredFromStorage: "delivered_from_storage"
            case .storedOffline: "stored_offline"
            case .storedPower: "stored_power"
            case .replaced: "replaced"
            case .expired: "expired"
            case .unregistered: "unregistered"
            case .unregisteredFromStorage: "unregistered_from_storage"
            case .disabled: "disabled"
            case .disabledFromStorage: "disabled_from_storage"
            case .refusedByDevice: "refused_by_device"
            case .refusedTooMany: "refused_too_many"
            case .storedUnfiltered: "stored_unfiltered"
            case .activated: "device_activated"
            case .connected: "device_connected"
            case .disconnected: "device_disconnected"
            case .tokenMinted: "token_minted"
            case .appRemoved: "app_removed"
            case .deleted: "device_deleted"
            case .revoked: "certificate_revoked"
            case .subscribed: "channel_subscribed"
            case .unsubscribed: "channel_unsubscribed"
            }
        }
    }

    /// Rises with every event of this gateway, also after a restart. Given by ``EventLog``.
    var id: Int64 = 0
    var name: Name
    /// `nil` for what concerns a device as a whole.
    var environment: PushEnvironment?
    var device: UUID
    var time: Timestamp
    var topic: String?
    /// `apns-id` of the notification, or `apns-request-id` of the broadcast.
    var apnsID: String?

    init(
        _ name: Name,
        device: UUID,
        time: Timestamp,
        environment: PushEnvironment? = nil,
        topic: Topic? = nil,
        apnsID: String? = nil
    ) {
        self.name = name
        self.environment = environment
        self.device = device
        self.time = time
        self.topic = topic?.name
        self.apnsID = apnsID
    }
}
