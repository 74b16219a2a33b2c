import Foundation
import PushDevice
import PushSupport

/// A received notification as text.
enum NotificationText {
    /// Returns several lines: topic and push type, the parts of the alert, the payload.
    static func plain(_ notification: ReceivedNotification) -> String {
        let time = notification.sentAt.iso8601Text
        var lines = ["── \(time) \(notification.topic ?? "unknown topic") \(notification.pushType ?? "")"]
        let alert = (try? JSONValue(parsing: notification.payload))?["aps"]["alert"] ?? .null
        let body = alert["body"].stringValue ?? alert.stringValue
        for (name, text) in [
            ("title", alert["title"].stringValue), ("subtitle", alert["subtitle"].stringValue), ("body", body),
        ] {
            if let text { lines.append("   \(name): \(text.printable)") }
        }
        lines.append("   payload: \(String(decoding: notification.payload, as: UTF8.self).printable)")
        if let id = notification.apnsID { lines.append("   apns-id: \(id.printable)") }
        if let channel = notification.channelID { lines.append("   broadcast on channel: \(channel.printable)") }
        return lines.joined(separator: "\n")
    }

    /// Returns one line of JSON. A payload that is not JSON is a string in it.
    static func json(_ notification: ReceivedNotification) throws -> String {
        try JSONValue.members([
            "deviceToken": notification.deviceToken.json, "sentAt": notification.sentAt.iso8601Text.json,
            "payload": (try? JSONValue(parsing: notification.payload))
                ?? String(decoding: notification.payload, as: UTF8.self).json,
            "topic": notification.topic?.json, "apnsId": notification.apnsID?.json,
            "pushType": notification.pushType?.json, "priority": notification.priority?.json,
            "collapseId": notification.collapseID?.json, "channelId": notification.channelID?.json,
        ]).line
    }
}
