public import Foundation

/// A notification as the app has received it. All members are untrusted. A member that is missing or of another type is
/// `nil`. Every payload can be parsed.
public struct ReceivedNotification: Hashable, Sendable {
    /// The provider's id of the notification, or `nil` if the provider requested neither receipts nor encryption.
    public let id: UUID?
    /// The level of privacy that the notification requests for its receipts.
    public let receipts: ReceiptPrivacy
    public var title: String?
    public var subtitle: String?
    public var body: String?
    /// The new number on the app's icon, where 0 removes the badge, or `nil` to leave the number unchanged.
    public var badge: Int?
    /// The name of the sound, such as `default`, or `nil` for a silent notification.
    public var sound: String?
    /// The degree to which the notification may interrupt the user, or `nil` for the default.
    public var interruptionLevel: InterruptionLevel?
    /// The category, which determines the actions that the system shows with the notification, or `nil` for no actions.
    public var category: String?
    /// The identifier by which the system groups notifications, or `nil` for the app's default group.
    public var threadID: String?
    /// A Boolean value that indicates whether the notification wakes the app in the background (`content-available`).
    public let wakesApp: Bool
    /// A Boolean value that indicates whether the notification service extension may change the notification
    /// (`mutable-content`).
    public let isMutable: Bool
    /// The members of the payload besides `aps`: those of the app, and `class`, `property` and `path`.
    public let data: [String: JSONValue]
    /// The encrypted content, in place of which the other members are shown until it is decrypted, or `nil` if there is
    /// none.
    let sealed: SealedContent?

    /// Parses the system's dictionary: `userInfo` of a notification's content, or the dictionary of a background push.
    public init(userInfo: [AnyHashable: Any]) { self.init(payload: JSONValue.members(of: userInfo)) }

    /// Parses the JSON text of a payload. Returns `nil` for data that is not a JSON object, exceeds 256 KiB or 16,384
    /// values, or is nested more than 32 levels deep.
    public init?(json: Data) {
        guard case .object(let members)? = JSONValue(payload: json) else { return nil }
        self.init(payload: members)
    }

    init(payload: [String: JSONValue]) {
        let martlet = payload["martlet"]?.object ?? [:]
        self.init(
            payload: payload,
            id: martlet["id"]?.string.flatMap { UUID(uuidString: $0) },
            receipts: martlet["receipts"]?.string.flatMap { ReceiptPrivacy(rawValue: $0) } ?? .none,
            sealed: martlet["sealed"].map { SealedContent($0) }
        )
    }

    /// Returns this notification with the decrypted payload in place of the placeholder.
    func opened(_ payload: [String: JSONValue]) -> ReceivedNotification {
        ReceivedNotification(payload: payload, id: self.id, receipts: self.receipts, sealed: nil)
    }

    private init(payload: [String: JSONValue], id: UUID?, receipts: ReceiptPrivacy, sealed: SealedContent?) {
        let aps = payload["aps"]?.object ?? [:]
        self.id = id
        self.receipts = id == nil ? .none : receipts
        self.sealed = sealed
        switch aps["alert"] {
        case .string(let text)?: self.body = text
        case .object(let alert)?:
            self.title = alert["title"]?.string
            self.subtitle = alert["subtitle"]?.string
            self.body = alert["body"]?.string
        default: break
        }
        self.badge = aps["badge"]?.integer.flatMap { (0...Int64(Int32.max)).contains($0) ? Int($0) : nil }
        self.sound = aps["sound"]?.string ?? aps["sound"]?.object?["name"]?.string
        self.interruptionLevel = aps["interruption-level"]?.string.flatMap { InterruptionLevel(rawValue: $0) }
        self.category = aps["category"]?.string
        self.threadID = aps["thread-id"]?.string
        self.wakesApp = aps["content-available"]?.integer == 1
        self.isMutable = aps["mutable-content"]?.integer == 1
        self.data = payload.filter { $0.key != "aps" && $0.key != "martlet" }
    }

    /// A degree to which a notification may interrupt the user.
    public enum InterruptionLevel: String, Hashable, Sendable, CaseIterable {
        /// A level at which the notification is added to the list without lighting the screen or playing a sound.
        case passive
        case active
        /// A level at which the notification is presented even during a Focus.
        case timeSensitive = "time-sensitive"
        /// A level at which the notification sounds even on a muted device. It requires an entitlement from Apple.
        case critical
    }

    /// A Boolean value that indicates whether the notification has an alert, which the user can see.
    public var isVisible: Bool { self.title != nil || self.subtitle != nil || self.body != nil }
}

/// The encrypted content of a notification.
enum SealedContent: Hashable, Sendable {
    /// Content that is encrypted to a key of the installation.
    /// - Parameters:
    ///   - key: The id of the installation's key to which it was encrypted, of 1 to 64 bytes.
    ///   - data: The encapsulated key of 32 bytes, followed by the ciphertext.
    case encrypted(key: String, data: Data)
    /// Content that cannot be decrypted, because the member `martlet.sealed` is malformed.
    case malformed

    /// Decodes the member `martlet.sealed` of a payload. The result is ``malformed`` if it cannot be decoded.
    init(_ value: JSONValue) {
        guard let members = value.object, let key = members["key"]?.string, (1...64).contains(key.utf8.count),
            let data = members["data"]?.string.flatMap({ Data(base64Encoded: $0) }), data.count > 32
        else {
            self = .malformed
            return
        }
        self = .encrypted(key: key, data: data)
    }
}
