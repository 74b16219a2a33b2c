import Foundation
public import NIOCore

/// A notification as a request to the push service carries it, without the device token.
public struct PushNotification: Hashable, Sendable {
    /// The longest `apns-collapse-id`, in bytes (reference 1.5).
    package static let maximumCollapseIDLength = 64
    /// The largest payload of a broadcast, in bytes (reference 3.6).
    package static let maximumBroadcastSize = 5120

    /// The header `apns-id`: a UUID in canonical form, in the letter case of the sender.
    public var id: String
    /// The header `apns-topic`.
    public var topic: Topic
    /// The header `apns-push-type`; `nil` leaves it out.
    public var pushType: PushType?
    /// The header `apns-priority`.
    public var priority: Priority
    /// The header `apns-expiration`.
    public var expiration: Expiration
    /// The header `apns-collapse-id`, 1 to 64 bytes long, without control characters and without spaces at its ends;
    /// `nil` leaves it out. A device shows only the newest notification with an id.
    public var collapseID: String?
    /// The JSON text, which is sent as it is. Copies of a notification share its memory.
    public var payload: ByteBuffer

    /// Creates a notification with a payload in memory of swift-nio.
    public init(
        id: String = PushNotification.makeID(),
        topic: Topic,
        pushType: PushType? = .alert,
        priority: Priority = .immediate,
        expiration: Expiration = .servicePolicy,
        collapseID: String? = nil,
        payload: ByteBuffer
    ) {
        (self.id, self.topic, self.pushType, self.priority) = (id, topic, pushType, priority)
        (self.expiration, self.collapseID, self.payload) = (expiration, collapseID, payload)
    }

    /// Creates a notification with a payload in JSON text.
    public init(
        id: String = PushNotification.makeID(),
        topic: Topic,
        pushType: PushType? = .alert,
        priority: Priority = .immediate,
        expiration: Expiration = .servicePolicy,
        collapseID: String? = nil,
        payload: String
    ) {
        self.init(
            id: id,
            topic: topic,
            pushType: pushType,
            priority: priority,
            expiration: expiration,
            collapseID: collapseID,
            payload: ByteBuffer(string: payload)
        )
    }

    /// Indicates whether a text can be the value of a header field: it has no control character and no space at its ends
    /// (RFC 9113, 8.2.1).
    package static func isHeaderValue(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f } && bytes.first != 0x20 && bytes.last != 0x20
    }

    /// Returns a new random `apns-id`: each push needs one of its own.
    public static func makeID() -> String { UUID().uuidString.lowercased() }
}
