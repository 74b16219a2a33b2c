import Foundation
import PushDevice

/// A notification as text.
enum NotificationText {
    /// Several lines: where it came from, what the user would see, the payload.
    static func plain(_ notification: ReceivedNotification) -> String {
        let time = Self.time(notification.sentAt)
        var lines = ["── \(time) \(notification.topic ?? "unknown topic") \(notification.pushType ?? "")"]
        let alert = Alert(payload: notification.payload)
        for (name, text) in [("title", alert.title), ("subtitle", alert.subtitle), ("body", alert.body)] {
            if let text { lines.append("   \(name): \(text.printable)") }
        }
        lines.append("   payload: \(String(decoding: notification.payload, as: UTF8.self).printable)")
        if let id = notification.apnsID { lines.append("   apns-id: \(id.printable)") }
        if let channel = notification.channelID { lines.append("   broadcast on channel: \(channel.printable)") }
        return lines.joined(separator: "\n")
    }

    /// One line. A payload that is no JSON stands there as a string.
    static func json(_ notification: ReceivedNotification) -> String {
        var members: [String: Any] = [
            "deviceToken": notification.deviceToken,
            "sentAt": Self.time(notification.sentAt),
            "payload": (try? JSONSerialization.jsonObject(with: notification.payload))
                ?? String(decoding: notification.payload, as: UTF8.self),
        ]
        members["topic"] = notification.topic
        members["apnsId"] = notification.apnsID
        members["pushType"] = notification.pushType
        members["priority"] = notification.priority
        members["collapseId"] = notification.collapseID
        members["channelId"] = notification.channelID
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        let data = (try? JSONSerialization.data(withJSONObject: members, options: options)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    private static func time(_ date: Date) -> String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// What the user would see of an alert.
    private struct Alert {
        var title: String?
        var subtitle: String?
        var body: String?

        init(payload: Data) {
            let aps = (try? JSONSerialization.jsonObject(with: payload) as? [String: Any])?["aps"] as? [String: Any]
            if let text = aps?["alert"] as? String {
                self.body = text
            } else if let alert = aps?["alert"] as? [String: Any] {
                self.title = alert["title"] as? String
                self.subtitle = alert["subtitle"] as? String
                self.body = alert["body"] as? String
            }
        }
    }
}
