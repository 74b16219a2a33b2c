import PushSupport
import PushTypes

/// The payload of a push for one device of a Matrix notification.
///
/// It has one of three forms. For an event without a type, it contains the ids with which the app's extension fetches
/// the event. For any other event, it contains a ``MatrixAlert``. Without an event, it sets the badge.
struct MatrixPayload: Hashable, Sendable {
    private(set) var members: [String: JSONValue]
    /// The alert for the event, or `nil` if the payload shows none.
    private(set) var alert: MatrixAlert?

    /// Creates the payload. Returns `nil` if there is nothing to send, because the app does not want numbers of unread
    /// messages, or because the event is not shown and changes no number.
    init?(_ notification: MatrixNotification, for device: MatrixDevice, _ settings: MatrixSettings) {
        let counts = settings.counts ? notification.counts : MatrixNotification.Counts(unread: nil, missedCalls: nil)
        if notification.type != nil {
            self.members = device.defaultPayload
            self.alert = notification.alert
            let sound = settings.sound ? device.sound : nil
            guard self.alert != nil || counts.badge != nil || !self.members.isEmpty else { return nil }
            self.fillIn(notification, badge: counts.badge, sound: sound)
        } else if let event = notification.eventID {
            self.members = device.defaultPayload
            self.members["event_id"] = .string(event)
            self.members["room_id"] = notification.roomID.map { .string($0) } ?? self.members["room_id"]
            if let unread = counts.unread { self.members["unread_count"] = .integer(unread) }
            if let missed = counts.missedCalls { self.members["missed_calls"] = .integer(missed) }
        } else {
            guard let badge = counts.badge else { return nil }
            self.members = ["aps": .object(["badge": .integer(badge)])]
        }
        self.wakeIfSilent()
    }

    private mutating func fillIn(_ notification: MatrixNotification, badge: Int64?, sound: String?) {
        var aps = self.aps
        if let alert {
            // An alert of the app that is a string is replaced, because a string cannot have members.
            var texts: [String: JSONValue] = if case .object(let own)? = aps["alert"] { own } else { [:] }
            texts["loc-key"] = .string(alert.key)
            texts["loc-args"] = .array(alert.arguments.map { .string($0) })
            aps["alert"] = .object(texts)
            self.members["room_id"] = notification.roomID.map { .string($0) } ?? self.members["room_id"]
            self.members["event_id"] = notification.eventID.map { .string($0) } ?? self.members["event_id"]
        }
        if let badge { aps["badge"] = .integer(badge) }
        if let sound { aps["sound"] = .string(sound) }
        self.members["aps"] = .object(aps)
    }

    /// The member `aps` of the payload. It is empty if that member is absent or not an object.
    private var aps: [String: JSONValue] { if case .object(let aps)? = self.members["aps"] { aps } else { [:] } }

    /// The push type: `alert` for a payload with an alert, a badge or a sound, otherwise `background`.
    var pushType: PushType {
        let aps = self.aps
        let hasAlert =
            switch aps["alert"] {
            case .object?: true
            case .string(let text)?: !text.isEmpty
            default: false
            }
        return hasAlert || aps["badge"] != nil || aps["sound"] != nil ? .alert : .background
    }

    /// Adds `content-available` to a payload that shows nothing, so that it wakes the app as a valid background push
    /// (reference 1.6).
    private mutating func wakeIfSilent() {
        guard self.pushType == .background else { return }
        var aps = self.aps
        aps["alert"] = nil
        aps["content-available"] = .integer(1)
        self.members["aps"] = .object(aps)
    }

    /// Returns the payload as JSON. Its alert is truncated so that the payload fits into `maximum` bytes. If that does
    /// not suffice, the result is longer.
    func text(maximum: Int) throws -> [UInt8] {
        var writer = JSONWriter(capacity: 512)
        try writer.value(.object(self.members))
        guard writer.bytes.count > maximum else { return writer.bytes }
        let excess = writer.bytes.count - maximum
        writer.removeAll()
        try writer.value(.object(MatrixTextTruncator(self.members, excess: excess).members))
        return writer.bytes
    }
}

/// Truncates the strings of an alert: the alert itself, its body and its arguments. The longest ones are truncated
/// first, down to a common length.
private struct MatrixTextTruncator {
    private(set) var members: [String: JSONValue]

    /// Truncates the strings until the JSON is shorter by `excess` bytes, as far as possible.
    init(_ members: [String: JSONValue], excess: Int) {
        self.members = members
        guard case .object(var aps)? = members["aps"] else { return }
        var texts: [String] = []
        // Both passes visit the strings in the same order.
        _ = Self.map(aps["alert"]) { text in
            texts.append(text)
            return text
        }
        let sizes = texts.map(Self.size)
        let limit = Self.limit(sizes, excess: excess)
        aps["alert"] = Self.map(aps["alert"]) { Self.cut($0, to: limit) }
        self.members["aps"] = .object(aps)
    }

    private static func map(_ alert: JSONValue?, _ replace: (String) -> String) -> JSONValue? {
        switch alert {
        case .string(let text)?: return .string(replace(text))
        case .object(var members)?:
            if case .string(let body)? = members["body"] { members["body"] = .string(replace(body)) }
            if case .array(let arguments)? = members["loc-args"] {
                members["loc-args"] = .array(
                    arguments.map { if case .string(let text) = $0 { .string(replace(text)) } else { $0 } }
                )
            }
            return .object(members)
        default: return alert
        }
    }

    /// Returns the maximum size of a string that makes all strings together shorter by `excess` bytes. Returns 0 if
    /// they have fewer bytes.
    private static func limit(_ sizes: [Int], excess: Int) -> Int {
        var (low, high) = (0, sizes.max() ?? 0)
        // The largest sufficient limit is at least `low` and less than `high`.
        while low + 1 < high {
            let middle = low + (high - low) / 2
            let lost = sizes.reduce(0) { $0 + max(0, $1 - middle) }
            if lost >= excess { low = middle } else { high = middle }
        }
        return low
    }

    /// Returns the length of a string in JSON, in bytes, without its quotation marks.
    private static func size(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + Self.size($1) } }

    private static func size(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0x22, 0x5c, 0x08, 0x09, 0x0a, 0x0c, 0x0d: 2
        case ..<0x20: 6
        default: UTF8.width(scalar)
        }
    }

    /// Returns the longest prefix of a string that has at most `limit` bytes in JSON, without the quotation marks.
    private static func cut(_ text: String, to limit: Int) -> String {
        var size = 0
        var end = text.unicodeScalars.startIndex
        for index in text.unicodeScalars.indices {
            size += Self.size(text.unicodeScalars[index])
            guard size <= limit else { return String(text.unicodeScalars[..<end]) }
            end = text.unicodeScalars.index(after: index)
        }
        return text
    }
}
