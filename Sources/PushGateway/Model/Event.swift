import Foundation
import PushTypes

/// An event of a notification or a device. It has Apple's name if Apple has one (reference 7.3).
struct Event: Hashable, Sendable {
    /// The kind of an event. The raw values are stored in the database and must never change.
    enum Name: UInt8, CaseIterable, Sendable {
        case received = 1, delivered = 2, deliveredFromStorage = 3, storedOffline = 4, storedPower = 5, replaced = 6
        case expired = 7, unregistered = 8, unregisteredFromStorage = 9, disabled = 10, disabledFromStorage = 11
        case rejectedByDevice = 12, tooManyRequests = 13, storedUnfiltered = 14
        case activated = 20, connected = 21, disconnected = 22, tokenMinted = 23, appRemoved = 24, deleted = 25
        case revoked = 26, subscribed = 27, unsubscribed = 28

        var code: String { self.names.code }

        /// The description for logs and user interfaces, such as `Stored – Device Offline`.
        var text: String { self.names.text }

        private var names: (code: String, text: String) {
            switch self {
            case .received: ("received", "Received by APNs")
            case .delivered: ("delivered", "Delivered to Device")
            case .deliveredFromStorage: ("delivered_from_storage", "Delivered to Device (From Storage)")
            case .storedOffline: ("stored_offline", "Stored – Device Offline")
            case .storedPower: ("stored_power", "Stored – Power Considerations")
            case .replaced: ("replaced", "Replaced by Newer Notification")
            case .expired: ("expired", "Discarded – Expired")
            case .unregistered: ("unregistered", "Discarded – Token Unregistered")
            case .unregisteredFromStorage:
                ("unregistered_from_storage", "Discarded – Token Unregistered (From Storage)")
            case .disabled: ("disabled", "Discarded – Disabled")
            case .disabledFromStorage: ("disabled_from_storage", "Discarded – Disabled (From Storage)")
            case .rejectedByDevice: ("refused_by_device", "Discarded – Refused by Device")
            case .tooManyRequests: ("refused_too_many", "Refused – Too Many Requests")
            case .storedUnfiltered: ("stored_unfiltered", "Stored – Topic Not in Filter")
            case .activated: ("device_activated", "Device Activated")
            case .connected: ("device_connected", "Device Connected")
            case .disconnected: ("device_disconnected", "Device Disconnected")
            case .tokenMinted: ("token_minted", "Device Token Minted")
            case .appRemoved: ("app_removed", "App Removed")
            case .deleted: ("device_deleted", "Device Deleted")
            case .revoked: ("certificate_revoked", "Device Certificate Revoked")
            case .subscribed: ("channel_subscribed", "Channel Subscribed")
            case .unsubscribed: ("channel_unsubscribed", "Channel Unsubscribed")
            }
        }
    }

    /// The id of the event, which rises even across restarts. ``EventLog`` assigns it.
    var id: Int64 = 0
    var name: Name
    /// The environment, or `nil` for an event that concerns the device in all environments.
    var environment: PushEnvironment?
    var device: UUID
    var time: Timestamp
    var topic: String?
    /// The `apns-id` of the push, or `apns-request-id` of the broadcast, or `nil` for an event of a device.
    var apnsID: String?

    init(
        _ name: Name,
        device: UUID,
        time: Timestamp,
        environment: PushEnvironment? = nil,
        topic: Topic? = nil,
        apnsID: String? = nil
    ) {
        (self.name, self.device, self.time, self.environment) = (name, device, time, environment)
        (self.topic, self.apnsID) = (topic?.name, apnsID)
    }
}

/// The properties by which events are selected. An event matches if it has all properties that are not `nil`.
struct EventFilter: Hashable, Sendable {
    var device: UUID?
    var environment: PushEnvironment?
    /// The `apns-id`, compared without regard to letter case. `nil` matches all events.
    var apnsID: String?
    var topic: String?

    func matches(_ event: Event) -> Bool {
        if let device, event.device != device { return false }
        if let environment, event.environment != environment { return false }
        if let topic, event.topic != topic { return false }
        if let apnsID {
            guard let id = event.apnsID, id.count == apnsID.count, id.lowercased() == apnsID.lowercased() else {
                return false
            }
        }
        return true
    }
}
