import Foundation
package import PushSupport
import PushTypes

/// An event of the simulator. It is printed, and the command `wait` can wait for it.
package struct SimulatorEvent: Hashable, Sendable {
    /// The names of events in the command `wait` and in JSON.
    package enum Name: String, Hashable, Sendable, CaseIterable {
        /// The event that the phone has received its device token.
        case connected
        /// The event that the provider has confirmed the installation of the app.
        case registered
        /// The event that the app's notification service extension has run.
        case `extension`
        case shown
        /// The event that a push has arrived that shows no notification to the user.
        case notShown = "not-shown"
        case badge, sound
        /// The event that a background push has woken the app.
        case woken
        case activity
        case opened, dismissed, action, converted
        /// The event that the app has opened the screen of a notification.
        case screen
        /// The event that receipts were sent to the provider. Each receipt counts as one event for the command `wait`.
        case receipts
        /// The event that an error has occurred, such as a failed connection. The simulator continues.
        case problem
        /// The steps of a reader from the catalogue to the downloaded issue.
        case catalogue, entitled, cover, downloading, paused, resumed, waiting, downloaded, skipped, failed

        /// The events that only readers have.
        private static let readers: Set<Name> = [
            .catalogue, .entitled, .cover, .downloading, .paused, .resumed, .waiting, .downloaded, .skipped, .failed,
        ]
        /// The events of a phone with the simulated app.
        package static let ofPhones = Self.allCases.filter { !Self.readers.contains($0) }
        /// The events of a phone with a reader.
        package static let ofReaders: [Name] = Self.allCases.filter {
            Self.readers.contains($0) || [.connected, .registered, .shown, .notShown, .badge, .sound].contains($0)
                || [.woken, .opened, .problem].contains($0)
        }
    }

    package let name: Name
    /// The number of events that this event counts as for the command `wait`.
    package var count = 1
    package let lines: [String]
    package let members: [String: JSONValue]

    package init(_ name: Name, _ lines: [String], _ members: [String: JSONValue?] = [:]) {
        (self.name, self.lines, self.members) = (name, lines, members.compactMapValues { $0 })
    }

    package init(_ name: Name, _ line: String, _ members: [String: JSONValue?] = [:]) {
        self.init(name, [line], members)
    }

    package var json: JSONValue { .object(self.members.merging(["event": .string(self.name.rawValue)]) { $1 }) }
}

extension SimulatorEvent {
    /// Creates the event for a change on the phone.
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

    /// Creates the event for a user's action on a notification. `more` contains further members of the event; `nil`
    /// values are omitted.
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
    /// The title, the subtitle and the body of the notification, without those that are empty.
    package var texts: [String] { [self.title, self.subtitle, self.body].compactMap { $0 }.filter { !$0.isEmpty } }
    package var headline: String { self.texts.first ?? "" }

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
    /// The notifications by thread, newest first, then the Live Activities and the badge, as lines of text.
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

/// The response to a command, as text and as JSON.
package struct SimulatorResponse: Hashable, Sendable {
    package let lines: [String]
    /// The response as JSON, or `null` for a response without a JSON form.
    package let json: JSONValue

    package init(lines: [String], json: JSONValue) { (self.lines, self.json) = (lines, json) }

    /// Creates the response to `help` from its text. It has no JSON form.
    init(help text: String) { self.init(lines: text.components(separatedBy: "\n"), json: .null) }
}
