import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The body of `POST /_matrix/push/v1/notify`: one event or the number of unread messages, and the devices to notify
/// (Matrix Push Gateway API v1).
struct MatrixNotification: Hashable, Sendable {
    /// The maximum length of a request body, in bytes. A longer one is rejected with `M_TOO_LARGE`.
    static let maximumBody = 512 * 1024
    /// The maximum number of devices in a request, which is rejected if it names more. Homeservers usually name one.
    static let maximumDevices = 100
    /// The maximum length of an event type and of an event's, a room's or a user's id, in bytes (Matrix size limits). A
    /// request with a longer one is rejected.
    private static let maximumID = 255

    /// The numbers that an app shows in its badge.
    struct Counts: Hashable, Sendable {
        /// The maximum value of a number. Numbers are clamped to the range from 0 to this value.
        private static let maximum: Int64 = 1_000_000_000

        /// The numbers of unread messages and missed calls, each `nil` if the homeserver does not send it.
        let unread, missedCalls: Int64?

        /// The sum of the numbers for the badge, or `nil` if the homeserver sends neither.
        var badge: Int64? {
            guard self.unread != nil || self.missedCalls != nil else { return nil }
            return (self.unread ?? 0) + (self.missedCalls ?? 0)
        }

        init(unread: Int64?, missedCalls: Int64?) {
            func bounded(_ count: Int64?) -> Int64? { count.map { min(max(0, $0), Self.maximum) } }
            (self.unread, self.missedCalls) = (bounded(unread), bounded(missedCalls))
        }
    }

    let eventID, roomID: String?
    /// The event's type, or `nil` if there is no event or the homeserver does not send it.
    let type: String?
    let sender: String?
    let senderName, roomName, roomAlias: String?
    /// The new membership in an event of the type `m.room.member`, such as `invite`, or `nil` if there is none.
    let membership: String?
    /// A Boolean value that indicates whether an event of the type `m.room.member` is about the recipient.
    let isForTarget: Bool
    /// The content of the event. It is empty if the homeserver does not send it.
    let content: [String: JSONValue]
    /// A Boolean value that indicates whether the notification is urgent, which it is unless the homeserver gives it a
    /// low priority.
    let isUrgent: Bool
    let counts: Counts
    let devices: [MatrixDevice]
    /// The alert for the event, which is the same for all devices, or `nil` if the event is not shown.
    private(set) var alert: MatrixAlert?

    init(parsing body: [UInt8]) throws(MatrixError) {
        let json = try Self.json(body)
        guard case .object(let notification) = json["notification"] else {
            throw MatrixError(400, .badJSON, "the body must be an object with the object notification")
        }
        let fields = MatrixMembers(notification, at: "notification")
        func id(_ name: String) throws(MatrixError) -> String? {
            guard let id = try fields.string(name) else { return nil }
            guard id.utf8.count <= Self.maximumID else {
                throw MatrixError(400, .badJSON, "notification.\(name) has more than \(Self.maximumID) bytes")
            }
            return id
        }
        let older = try id("id")
        self.eventID = try id("event_id") ?? older
        (self.roomID, self.type, self.sender) = (try id("room_id"), try id("type"), try id("sender"))
        // Members of a room choose these names, and homeservers pass on values that are not strings.
        self.senderName = fields.lenientString("sender_display_name")
        (self.roomName, self.roomAlias) = (fields.lenientString("room_name"), fields.lenientString("room_alias"))
        self.content = try fields.object("content") ?? [:]
        self.membership = try fields.string("membership") ?? self.content["membership"]?.stringValue
        self.isForTarget = fields.flag("user_is_target")
        self.isUrgent = try fields.string("prio") != "low"
        let counts = MatrixMembers(try fields.object("counts") ?? [:], at: "notification.counts")
        self.counts = Counts(unread: try counts.integer("unread"), missedCalls: try counts.integer("missed_calls"))
        guard let devices = try fields.array("devices") else {
            throw MatrixError(400, .badJSON, "notification.devices is missing")
        }
        self.devices = try Self.devices(devices)
        self.alert = MatrixAlert(self)
    }

    private static func json(_ body: [UInt8]) throws(MatrixError) -> JSONValue {
        do throws(RequestError) {
            return try JSONValue(parsingBytes: body)
        } catch {
            throw MatrixError(400, error.code == "invalid_json" ? .notJSON : .badJSON, error.message)
        }
    }

    private static func devices(_ values: [JSONValue]) throws(MatrixError) -> [MatrixDevice] {
        guard values.count <= Self.maximumDevices else {
            throw MatrixError(400, .badJSON, "notification.devices names more than \(Self.maximumDevices) devices")
        }
        var devices: [MatrixDevice] = []
        devices.reserveCapacity(values.count)
        for value in values {
            guard case .object(let members) = value else { throw .wrongType("notification.devices[]", "an object") }
            devices.append(try MatrixDevice(members))
        }
        return devices
    }
}

/// A device of a notification: a pusher that the app has registered at the homeserver.
struct MatrixDevice: Hashable, Sendable {
    let appID: String
    /// The pushkey. For an app on Apple's platforms, it is the device token.
    let pushkey: String
    /// The time at which the pushkey last changed, or `nil` if the homeserver does not send it.
    let since: Timestamp?
    /// The payload to which the gateway adds its members. It is empty if the app has registered none.
    let defaultPayload: [String: JSONValue]
    /// A Boolean value that indicates whether the app wants a push for a room to replace earlier ones of that room.
    let collapses: Bool
    /// The name of the sound that the user's push rules choose, or `nil` for none.
    let sound: String?

    init(_ members: [String: JSONValue]) throws(MatrixError) {
        let fields = MatrixMembers(members, at: "notification.devices[]")
        (self.appID, self.pushkey) = (try fields.required("app_id"), try fields.required("pushkey"))
        self.since = try fields.integer("pushkey_ts").map { Timestamp(seconds: $0) }
        let data = MatrixMembers(try fields.object("data") ?? [:], at: "notification.devices[].data")
        self.defaultPayload = try data.object("default_payload") ?? [:]
        self.collapses = data.flag("collapse")
        let tweaks = MatrixMembers(try fields.object("tweaks") ?? [:], at: "notification.devices[].tweaks")
        self.sound = try tweaks.tweak("sound")
        try tweaks.checkFlag("highlight")
    }
}

/// The two forms of a pushkey: a device token or an address.
enum MatrixPushkey {
    /// The maximum length of a pushkey, in bytes (Matrix client-server API, pushers). A longer one is rejected.
    static let maximumLength = 512

    /// Parses a device token in hexadecimal, base64 or base64url, with or without padding. Returns `nil` for other
    /// strings.
    static func token(_ text: String) -> DeviceToken? {
        guard text.utf8.count <= Self.maximumLength,
            let bytes = Hexadecimal.decode(text) ?? Base64URL.decode(text).map({ Array($0) }),
            let token = DeviceToken(bytes: bytes), token.bytes.count >= DeviceRequest.minimumToken
        else { return nil }
        return token
    }

    /// Returns whether a pushkey is the address of a UnifiedPush endpoint.
    static func isAddress(_ text: String) -> Bool {
        text.utf8.count <= Self.maximumLength && (text.hasPrefix("https://") || text.hasPrefix("http://"))
    }

    /// Returns a prefix of the SHA-256 digest of a pushkey, which identifies it in the log without revealing it.
    static func hash(_ text: String) -> String { Hexadecimal.encode(SHA256.hash(data: Data(text.utf8)).prefix(8)) }
}
