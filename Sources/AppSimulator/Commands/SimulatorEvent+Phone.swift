import Foundation
package import PushSupport
import PushTypes

extension SimulatorEvent {
    /// Makes the event of a change on the phone.
    package init(_ event: PhoneEvent) {
        switch event {
        case .shown(let entry, let appearance): self = .shown(entry, appearance)
        case .notShown(let id, let reason):
            self.init(
                .notShown,
                "\(reason.text)\(Self.suffix(id))",
                ["reason": reason.rawValue.json, "message": reason.text.json, "apnsId": id?.json]
            )
        case .badge(let number):
            self.init(.badge, number == 0 ? "none" : "\(number)", ["badge": .integer(Int64(number))])
        case .sound(let name): self.init(.sound, name, ["sound": name.json])
        case .woken(let content, let id):
            let payload = JSONValue.object(content.payload)
            self.init(
                .woken,
                ["the app runs in the background\(Self.suffix(id))", PhoneText.plain(payload)],
                ["apnsId": id?.json, "payload": payload]
            )
        case .activity(let activity, let change): self = .activity(activity, change)
        case .problem(let text, let id):
            self.init(.problem, "\(text)\(Self.suffix(id))", ["problem": text.json, "apnsId": id?.json])
        }
    }

    /// Makes the event of something that the user did with a notification.
    package init(_ name: Name, _ entry: NotificationEntry, _ more: [String: JSONValue?] = [:]) {
        let details = more.sorted { $0.key < $1.key }.compactMap { name, value in
            value.map { "\(name) \(PhoneText.plain($0))" }
        }
        let line = (["[\(entry.number)] \(entry.headline)"] + details).joined(separator: ", ")
        let members = ["number": JSONValue.integer(Int64(entry.number)), "apnsId": entry.apnsID?.json]
        self.init(name, line, members.merging(more) { $1 })
    }

    private static func suffix(_ apnsID: String?) -> String { apnsID.map { " (apns-id \($0))" } ?? "" }

    private static func shown(_ entry: NotificationEntry, _ appearance: NotificationAppearance) -> SimulatorEvent {
        let details: [String?] = [
            entry.thread.map { "thread \($0)" }, entry.category.map { "category \($0)" },
            entry.level == .active ? nil : entry.level.rawValue, appearance.sound.map { "sound \($0)" },
            appearance.replaces ? "replaces the earlier one" : nil,
            appearance.lightsScreen ? nil : "the screen stays dark", entry.attachment.map { "attachment \($0)" },
        ]
        let last = details.compactMap { $0 }.joined(separator: ", ")
        let texts = entry.texts
        let lines = ["[\(entry.number)] \(texts.first ?? "")"] + texts.dropFirst() + (last.isEmpty ? [] : [last])
        return SimulatorEvent(
            .shown,
            lines,
            entry.members.merging([
                "replaces": .bool(appearance.replaces), "lightsScreen": .bool(appearance.lightsScreen),
                "sound": appearance.sound?.json,
            ]) { $1 }
        )
    }

    private static func activity(_ activity: LiveActivity, _ change: LiveActivityChange) -> SimulatorEvent {
        SimulatorEvent(
            .activity,
            "#\(activity.number) \(activity.id) \(change.rawValue): \(PhoneText.plain(.object(activity.contentState)))",
            activity.members.merging(["change": change.rawValue.json]) { $1 }
        )
    }
}

extension NotificationEntry {
    /// The texts that are there, in order.
    package var texts: [String] { [self.title, self.subtitle, self.body].compactMap { $0 }.filter { !$0.isEmpty } }
    /// The first text.
    package var headline: String { self.texts.first ?? "" }

    /// The members for JSON.
    package var members: [String: JSONValue?] {
        [
            "number": .integer(Int64(self.number)), "apnsId": self.apnsID?.json, "title": self.title?.json,
            "subtitle": self.subtitle?.json, "body": self.body?.json, "thread": self.thread?.json,
            "category": self.category?.json, "level": self.level.rawValue.json, "attachment": self.attachment?.json,
            "payload": .object(self.payload),
        ]
    }
}

extension LiveActivity {
    /// The members for JSON.
    package var members: [String: JSONValue?] {
        [
            "number": .integer(Int64(self.number)), "activity": self.id.json, "type": self.type.json,
            "attributes": .object(self.attributes),
            "contentState": .object(self.contentState), "isStale": .bool(self.isStale),
            "hasEnded": .bool(self.hasEnded),
        ]
    }
}

extension PhoneNotificationCenter {
    /// The lock screen as text: threads, the newest first, then the badge and the Live Activities.
    package var lines: [String] {
        var lines: [String] = []
        for group in self.groups {
            if let thread = group.thread { lines.append("thread \(thread)") }
            let indent = group.thread == nil ? "" : "  "
            for entry in group.entries {
                let texts = entry.texts.joined(separator: ": ")
                lines.append("\(indent)[\(entry.number)] \(texts)\(entry.category.map { " (category \($0))" } ?? "")")
            }
        }
        for activity in self.activities {
            let state = activity.hasEnded ? ", ended" : activity.isStale ? ", stale" : ""
            lines.append(
                "#\(activity.number) \(activity.id)\(state): \(PhoneText.plain(.object(activity.contentState)))"
            )
        }
        if lines.isEmpty { lines.append("(no notifications)") }
        return lines + ["badge \(self.badge)"]
    }

    /// The lock screen for JSON.
    package var json: JSONValue {
        .object([
            "notifications": .array(self.entries.reversed().map { .object($0.members.compactMapValues { $0 }) }),
            "activities": .array(self.activities.map { .object($0.members.compactMapValues { $0 }) }),
            "badge": .integer(Int64(self.badge)),
        ])
    }
}

extension String {
    var json: JSONValue { .string(self) }
}
