package import Foundation
package import PushDevice
package import PushSupport
package import PushTypes

/// The members of a payload that the operating system of a phone evaluates (APNs reference 3). Parsing never fails: a
/// member that cannot be used is described in ``problems`` and treated as absent.
package struct PushContent: Hashable, Sendable {
    /// The maximum size of a payload in bytes. A larger one is not parsed. The push service delivers at most 5,120
    /// bytes (APNs reference 3.6).
    package static let maximumLength = 64 * 1024

    package private(set) var title: String?
    package private(set) var subtitle: String?
    package private(set) var body: String?
    /// The new number on the app's icon, or `nil` to leave it unchanged.
    package internal(set) var badge: Int?
    /// The name of the sound, or `nil` for a silent notification.
    package private(set) var sound: String?
    package private(set) var thread: String?
    package private(set) var category: String?
    package private(set) var level = InterruptionLevel.active
    /// A Boolean value that indicates whether the payload wakes the app (`content-available`).
    package private(set) var wakesApp = false
    /// A Boolean value that indicates whether the notification service extension may change the content
    /// (`mutable-content`).
    package private(set) var isMutable = false
    /// The members of the payload for a Live Activity, or `nil` if it has none.
    package private(set) var activity: LiveActivityPush?
    /// The whole payload, which is empty for data that is not a JSON object.
    package internal(set) var payload: [String: JSONValue] = [:]
    package private(set) var problems: [String] = []
    /// The path of the file that the notification service extension has attached, or `nil` for none.
    package var attachment: String?

    /// Parses the JSON of a payload. Data that cannot be parsed results in empty content with a problem.
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

    /// A Boolean value that indicates whether the alert has a title, a subtitle or a body that is not empty.
    package var hasText: Bool { [self.title, self.subtitle, self.body].contains { $0?.isEmpty == false } }

    /// A Boolean value that indicates whether the service extension runs, for which the alert must have text (APNs
    /// APNs reference 3.1).
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

    /// Parses the member `alert`, which is the body alone or an object (APNs reference 3.2).
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
        default: aps.reject("alert", "is neither a text nor an object")
        }
    }

    /// Returns a string of an alert. The payload contains it literally, as a localization key, or, for a Live Activity,
    /// as an object with the key. The simulator has no localized strings, so it shows the key instead.
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

    /// Parses the member `sound`, which is a name, or an object for a critical alert (APNs reference 3.3).
    private mutating func readSound(_ aps: inout PayloadReader) {
        switch aps.value("sound") {
        case nil: break
        case .string(let name)?: self.sound = name
        case .object(let members)?:
            var sound = PayloadReader(members, path: "aps.sound")
            self.sound = sound.text("name") ?? "default"
            aps.add(problemsOf: sound)
        default: aps.reject("sound", "is neither a text nor an object")
        }
    }
}

/// Reads the typed members of an object in a payload. A member of the wrong type is added to the problems and treated
/// as absent.
struct PayloadReader {
    private let members: [String: JSONValue]
    private let path: String
    /// The problems found so far, each with the path of its member.
    private(set) var problems: [String] = []

    init(_ members: [String: JSONValue], path: String) { (self.members, self.path) = (members, path) }

    /// Returns a member that may have several types, or `nil` if it is absent or null.
    func value(_ name: String) -> JSONValue? {
        let value = self.members[name]
        return value == .null ? nil : value
    }

    mutating func text(_ name: String) -> String? {
        guard let value = self.value(name) else { return nil }
        if case .string(let text) = value { return text }
        self.reject(name, "is not a text")
        return nil
    }

    mutating func object(_ name: String) -> [String: JSONValue]? {
        guard let value = self.value(name) else { return nil }
        if case .object(let members) = value { return members }
        self.reject(name, "is not an object")
        return nil
    }

    /// Returns an array of strings. Elements of another type are converted to their JSON text. An absent or unusable
    /// member results in an empty array.
    mutating func texts(_ name: String) -> [String] {
        guard let value = self.value(name) else { return [] }
        guard case .array(let elements) = value else {
            self.reject(name, "is not an array")
            return []
        }
        return elements.map(PhoneText.plain)
    }

    mutating func number(_ name: String) -> Double? {
        switch self.value(name) {
        case nil: return nil
        case .integer(let number)?: return Double(number)
        case .number(let number)?: return number
        default:
            self.reject(name, "is not a number")
            return nil
        }
    }

    /// Returns a non-negative integer, or `nil` if the member is absent or unusable.
    mutating func count(_ name: String) -> Int? {
        guard let value = self.value(name) else { return nil }
        if case .integer(let number) = value, number >= 0 { return Int(exactly: number) }
        self.reject(name, "is not a whole number of 0 or more")
        return nil
    }

    /// Returns whether a member is the number 1, which stands for `true` in a payload (APNs reference 3.1).
    mutating func isOne(_ name: String) -> Bool {
        switch self.value(name) {
        case nil, .integer(0)?: return false
        case .integer(1)?: return true
        default:
            self.reject(name, "is not the number 1")
            return false
        }
    }

    /// Returns a time that is given in seconds since 1970, or `nil` if the member is absent or unusable.
    mutating func time(_ name: String) -> Date? {
        guard let seconds = self.number(name) else { return nil }
        guard (0...Self.latestTime).contains(seconds) else {
            self.reject(name, "is not a time in seconds since 1970")
            return nil
        }
        return Date(timeIntervalSince1970: seconds)
    }

    /// The last second of the year 9999, beyond which calendars cannot show a time.
    private static let latestTime: Double = 253_402_300_799

    mutating func reject(_ name: String, _ what: String) { self.problems.append("\(self.path).\(name) \(what)") }

    mutating func add(problemsOf inner: PayloadReader) { self.problems += inner.problems }
}

/// Formats the values of a payload as human-readable text.
package enum PhoneText {
    /// Returns a string without quotes, and any other value as JSON.
    package static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return (try? value.text).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// A push as it arrives at the phone, with its payload unparsed.
package struct PhonePush: Hashable, Sendable {
    /// The `apns-id`, or `nil` if the push service does not deliver it.
    package var apnsID: String?
    package var pushType: String?
    package var collapseID: String?
    package var channelID: String?
    package var payload: Data

    package init(
        apnsID: String? = nil,
        pushType: String? = nil,
        collapseID: String? = nil,
        channelID: String? = nil,
        payload: Data
    ) {
        (self.apnsID, self.pushType, self.collapseID) = (apnsID, pushType, collapseID)
        (self.channelID, self.payload) = (channelID, payload)
    }

    /// Creates the push from a notification that the device link has delivered.
    package init(_ notification: ReceivedNotification) {
        self.init(
            apnsID: notification.apnsID,
            pushType: notification.pushType,
            collapseID: notification.collapseID,
            channelID: notification.channelID,
            payload: notification.payload
        )
    }
}
