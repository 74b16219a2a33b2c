import Foundation
import GRDB
import PushProtocol

/// Something that happened to a notification or a device, in Apple's words where Apple has one (reference 7.3).
struct Event: Hashable, Sendable {
    enum Name: String, Sendable {
        case received = "Received by APNs"
        case delivered = "Delivered to Device"
        case deliveredFromStorage = "Delivered to Device (From Storage)"
        case stored = "Stored – Device Offline"
        case replaced = "Replaced by Newer Notification"
        case expired = "Discarded – Expired"
        case offlineNotStored = "Discarded – Device Offline, Not To Be Stored"
        case refusedByDevice = "Discarded – Refused by Device"
        case unregistered = "Discarded – Token Unregistered"
        case activated = "Device Activated"
        case connected = "Device Connected"
        case disconnected = "Device Disconnected"
        case tokenMinted = "Device Token Minted"
        case appRemoved = "App Removed"
        case deleted = "Device Deleted"
    }

    var device: UUID
    var time: Timestamp
    var name: String
    var topic: String?
    var apnsID: String?

    init(_ name: Name, device: UUID, time: Timestamp, topic: Topic? = nil, apnsID: String? = nil) {
        self.device = device
        self.time = time
        self.name = name.rawValue
        self.topic = topic?.name
        self.apnsID = apnsID
    }

    init(_ name: Name, _ message: StoredMessage, time: Timestamp) {
        let notification = message.notification
        self.init(name, device: message.device, time: time, topic: notification.topic, apnsID: notification.id)
    }
}

/// The table of events: the newest of each device.
struct EventTable {
    let database: Database

    func append(_ events: [Event]) throws {
        for event in events {
            try self.database.execute(
                sql: "INSERT INTO event (device, time, name, topic, apnsID) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    event.device.uuidString, event.time.milliseconds, event.name, event.topic, event.apnsID,
                ]
            )
        }
    }

    /// Newest first.
    func events(device: UUID, limit: Int) throws -> [Event] {
        try Row.fetchAll(
            self.database,
            sql: "SELECT * FROM event WHERE device = ? ORDER BY id DESC LIMIT ?",
            arguments: [device.uuidString, limit]
        ).compactMap { row in
            guard let time = row["time"] as Int64?, let name = row["name"] as String?,
                var event = Event.Name(rawValue: name).map({
                    Event($0, device: device, time: Timestamp(milliseconds: time))
                })
            else { return nil }
            event.topic = row["topic"]
            event.apnsID = row["apnsID"]
            return event
        }
    }

    /// Keeps the newest `limit` events of a device.
    func trim(_ device: UUID, toNewest limit: Int) throws {
        try self.database.execute(
            sql: """
                DELETE FROM event WHERE device = ?1 AND id <= (
                    SELECT id FROM event WHERE device = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2
                )
                """,
            arguments: [device.uuidString, limit]
        )
    }
}
