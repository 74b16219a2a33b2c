import PushSupport
import PushTypes

/// The payload of a push for one device of a Matrix notification.
///
/// It has one of three shapes. About an event whose type the homeserver keeps to itself, it tells the app's extension where to look.
/// About any other event, it has a text of ``MatrixAlert``. Without an event, it sets the badge.
struct MatrixPayload: Hashable, Sendable {
    private(set) var members: [String: JSONValue]
    /// The text of the event; `nil` if the payload has none.
    private(set) var alert: MatrixAlert?

    /// Returns `nil` if there is nothing to send: a number of unread messages for an app that does not want any, and an event that is
    /// not shown and changes no number.
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

    /// Adds text, badge, sound and ids to the app's own payload.
    private mutating func fillIn(_ notification: MatrixNotification, badge: Int64?, sound: String?) {
        var aps = self.aps
        if let alert {
            // A text of the app's own is replaced, because it cannot have members.
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

    /// The member `aps`; empty if there is none, or none that is an object.
    private var aps: [String: JSONValue] {
        if case .object(let aps)? = self.members["aps"] { aps } else { [:] }
    }

    /// The push type that the content asks for.
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

    /// Makes a payload that shows nothing wake the app, as a background push has to (reference 1.6).
    private mutating func wakeIfSilent() {
        guard self.pushType == .background else { return }
        var aps = self.aps
        aps["alert"] = nil
        aps["content-available"] = .integer(1)
        self.members["aps"] = .object(aps)
    }

    /// Returns the payload as JSON, with the texts cut so that it has at most `maximum` bytes; longer if that is not enough.
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
