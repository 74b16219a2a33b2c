import Crypto
import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// The body of `POST /_matrix/push/v1/notify`: one event, or the number of unread ones, and the devices to notify
/// (Matrix Push Gateway API v1).
struct MatrixNotification: Hashable, Sendable {
    /// The maximum length of a body, in bytes.
    static let maximumBody = 512 * 1024
    /// The maximum number of devices. Homeservers usually name one.
    static let maximumDevices = 100
    /// The maximum length of a type and of the id of an event, a room or a user, in bytes (Matrix specification, size
    /// limits).
    private static let maximumID = 255

    /// The numbers that an app shows in its badge.
    struct Counts: Hashable, Sendable {
        /// The maximum of a number that is passed on.
        private static let maximum: Int64 = 1_000_000_000

        /// The numbers, or `nil` if the homeserver does not send them.
        let unread, missedCalls: Int64?

        /// The sum of the numbers, or `nil` if there are none.
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
    /// The user id of the sender.
    let sender: String?
    let senderName, roomName, roomAlias: String?
    /// The new membership of a member event.
    let membership: String?
    /// Indicates whether the member event is about the recipient.
    let isForTarget: Bool
    /// The event's content. It is empty if the homeserver does not send it.
    let content: [String: JSONValue]
    /// Indicates whether the notification is urgent. It is not if the homeserver gives it a low priority.
    let isUrgent: Bool
    let counts: Counts
    let devices: [MatrixDevice]
    /// The text of the event, which is the same for all devices, or `nil` if there is none.
    private(set) var alert: MatrixAlert?

    /// Parses a body.
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
        // Members of a room choose these names, and homeservers pass on values that are not texts.
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

/// A device of a notification: a pusher that its app has set up at the homeserver.
struct MatrixDevice: Hashable, Sendable {
    let appID: String
    /// The pushkey. For an app on Apple's platforms it is the device token as text.
    let pushkey: String
    /// The time of the last change of the pushkey, or `nil` if the homeserver does not send it.
    let since: Timestamp?
    /// The payload on which the app wants its pushes to be based. It is empty if the app names none.
    let defaultPayload: [String: JSONValue]
    /// Indicates whether the app wants the newest push of a room to replace earlier ones.
    let collapses: Bool
    /// The name of the sound that the user's push rules choose.
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

/// The pushkey of a pusher, which is a device token or an address.
enum MatrixPushkey {
    /// The maximum length of a pushkey, in bytes (client-server API, pushers).
    static let maximumLength = 512

    /// Returns the device token of a pushkey in hexadecimal, base64 or base64url, with or without padding. Returns
    /// `nil` for any other text.
    static func token(_ text: String) -> DeviceToken? {
        guard text.utf8.count <= Self.maximumLength,
            let bytes = Hexadecimal.decode(text) ?? Base64URL.decode(text).map({ Array($0) }),
            let token = DeviceToken(bytes: bytes), token.bytes.count >= DeviceRequest.minimumToken
        else { return nil }
        return token
    }

    /// Returns `true` for the address of an endpoint of UnifiedPush.
    static func isAddress(_ text: String) -> Bool {
        text.utf8.count <= Self.maximumLength && (text.hasPrefix("https://") || text.hasPrefix("http://"))
    }

    /// Returns the beginning of the SHA-256 of a pushkey, which distinguishes pushkeys in the log.
    static func hash(_ text: String) -> String { Hexadecimal.encode(SHA256.hash(data: Data(text.utf8)).prefix(8)) }
}
