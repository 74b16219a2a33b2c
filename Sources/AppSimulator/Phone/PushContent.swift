package import Foundation
package import PushSupport
package import PushTypes

/// The parts of a payload that a phone's system acts upon (reference 3).
///
/// Reading never fails: a member that cannot be used is in ``problems``, and counts as absent.
package struct PushContent: Hashable, Sendable {
    /// The longest payload that is read, in bytes. No push service delivers more than 5,120 (reference 3.6).
    package static let maximumLength = 64 * 1024

    package private(set) var title: String?
    package private(set) var subtitle: String?
    package private(set) var body: String?
    /// The new number on the icon; `nil` leaves it.
    package internal(set) var badge: Int?
    /// The name of the sound; `nil` for a silent notification.
    package private(set) var sound: String?
    package private(set) var thread: String?
    package private(set) var category: String?
    package private(set) var level = InterruptionLevel.active
    /// Indicates `content-available`.
    package private(set) var wakesApp = false
    /// Indicates `mutable-content`.
    package private(set) var isMutable = false
    /// The part for a Live Activity; `nil` if the payload has none.
    package private(set) var activity: LiveActivityPush?
    /// The whole payload; an empty object for a text that is none.
    package internal(set) var payload: [String: JSONValue] = [:]
    /// The members that cannot be used, in words.
    package private(set) var problems: [String] = []
    /// The file that the notification service extension has attached; `nil` for none.
    package var attachment: String?

    /// Reads a payload.
    package init(payload data: Data) {
        guard data.count <= Self.maximumLength else {
            self.problems = ["the payload has \(data.count) bytes, more than \(Self.maximumLength)"]
            return
        }
        guard case .object(let payload)? = try? JSONValue(parsing: data) else {
            self.problems = ["the payload is not a JSON object"]
            return
        }
        self.payload = payload
        switch payload["aps"] {
        case .object(let members)?: self.read(members)
        case nil: self.problems = ["the payload has no aps"]
        default: self.problems = ["aps is not an object"]
        }
    }

    /// Indicates that there is something to read.
    package var hasText: Bool {
        [self.title, self.subtitle, self.body].contains { $0?.isEmpty == false }
    }

    /// Indicates that the notification service extension runs first, which needs an alert with text (reference 3.1).
    package var runsExtension: Bool { self.isMutable && self.hasText }

    private mutating func read(_ members: [String: JSONValue]) {
        var aps = PayloadReader(members, path: "aps")
        self.readAlert(&aps)
        self.badge = aps.count("badge")
        self.readSound(&aps)
        self.thread = aps.text("thread-id")
        self.category = aps.text("category")
        if let name = aps.text("interruption-level") {
            let level = InterruptionLevel(rawValue: name)
            if level == nil { aps.reject("interruption-level", "is unknown: '\(name)'") }
            self.level = level ?? .active
        }
        self.wakesApp = aps.isOne("content-available")
        self.isMutable = aps.isOne("mutable-content")
        if aps.value("event") != nil { self.activity = LiveActivityPush(&aps) }
        self.problems = aps.problems
    }

    /// Reads `alert`, which is the body alone or an object (reference 3.2).
    private mutating func readAlert(_ aps: inout PayloadReader) {
        switch aps.value("alert") {
        case nil: break
        case .string(let body)?: self.body = body
        case .object(let members)?:
            var alert = PayloadReader(members, path: "aps.alert")
            self.title = Self.localized("title", &alert)
            self.subtitle = Self.localized("subtitle", &alert)
            self.body = Self.localized("body", &alert)
            aps.add(problemsOf: alert)
        default:
            aps.reject("alert", "is neither a text nor an object")
        }
    }

    /// Returns a text of an alert: given as such, as a key into the app's strings, or as an object with that key in the
    /// alert of a Live Activity. The simulator has no strings, so that the key stands for its text.
    private static func localized(_ name: String, _ alert: inout PayloadReader) -> String? {
        if case .object(let members)? = alert.value(name) {
            var inner = PayloadReader(members, path: "aps.alert.\(name)")
            defer { alert.add(problemsOf: inner) }
            return Self.key("loc", &inner)
        }
        return alert.text(name) ?? Self.key(name == "body" ? "loc" : "\(name)-loc", &alert)
    }

    private static func key(_ prefix: String, _ alert: inout PayloadReader) -> String? {
        guard let key = alert.text("\(prefix)-key") else { return nil }
        let arguments = alert.texts("\(prefix)-args")
        return arguments.isEmpty ? key : "\(key)(\(arguments.joined(separator: ", ")))"
    }

    /// Reads `sound`, which is a name or an object for a critical alert (reference 3.3).
    private mutating func readSound(_ aps: inout PayloadReader) {
        switch aps.value("sound") {
        case nil: break
        case .string(let name)?: self.sound = name
        case .object(let members)?:
            var sound = PayloadReader(members, path: "aps.sound")
            self.sound = sound.text("name") ?? "default"
            aps.add(problemsOf: sound)
        default:
            aps.reject("sound", "is neither a text nor an object")
        }
    }
}
