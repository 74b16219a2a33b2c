import Foundation
import PushTypes

/// An event in a response of the admin API.
struct EventEntry: Encodable {
    /// The id, which increases with every event.
    var id: Int64
    /// In milliseconds since 1970.
    var timeMs: Int64
    /// The name for people: that of Apple where Apple has one.
    var event: String
    /// The name for programs.
    var name: String
    var environment: String?
    /// `nil` for a broadcast as a whole.
    var device: String?
    var topic: String?
    var apnsId: String?

    init(_ event: Event) {
        self.id = event.id
        self.timeMs = event.time.milliseconds
        self.event = event.name.text
        self.name = event.name.code
        self.environment = event.environment?.rawValue
        self.device = event.device == RoutingStateMachine.allDevices ? nil : event.device.uuidString
        self.topic = event.topic
        self.apnsId = event.apnsID
    }
}

/// The state of one notification at one device.
struct NotificationState: Encodable {
    var device: String?
    var environment: String?
    var topic: String?
    /// The state in words.
    var state: String
    /// In milliseconds since 1970.
    var sinceMs: Int64

    /// - Parameter last: the newest event of the notification at this device.
    init(last: Event) {
        let entry = EventEntry(last)
        self.device = entry.device
        self.environment = entry.environment
        self.topic = entry.topic
        self.state = Self.description(of: last.name)
        self.sinceMs = entry.timeMs
    }

    private static func description(of name: Event.Name) -> String {
        switch name {
        case .received: "sent to the device, not acknowledged yet"
        case .delivered: "delivered"
        case .deliveredFromStorage: "delivered from storage"
        case .storedOffline: "stored until the device connects"
        case .storedUnfiltered: "stored until the device asks for its topic"
        case .storedPower: "stored until the device can be woken or asks for it"
        case .replaced: "discarded: a newer one took its place"
        case .expired: "discarded: it expired"
        case .unregistered, .unregisteredFromStorage: "discarded: the token is not registered"
        case .disabled, .disabledFromStorage: "discarded: the device does not want this topic"
        case .refusedByDevice: "discarded: the device refused it"
        case .refusedTooMany: "refused with 429: too much was sent to the device"
        case .activated, .connected, .disconnected, .tokenMinted, .appRemoved, .deleted, .revoked, .subscribed,
            .unsubscribed:
            name.text
        }
    }
}
