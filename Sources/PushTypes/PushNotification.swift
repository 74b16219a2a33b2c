import Foundation
public import NIOCore

/// The headers and the payload of a push request, without the device token.
public struct PushNotification: Hashable, Sendable {
    /// The maximum length of an `apns-collapse-id`, in bytes (APNs reference 1.5). A longer one makes the push invalid.
    package static let maximumCollapseIDLength = 64
    /// The maximum size of a broadcast's payload, in bytes (APNs reference 3.6).
    package static let maximumBroadcastSize = 5120

    /// The header `apns-id`: a UUID in canonical form, in the letter case of the sender.
    public var id: String
    /// The header `apns-topic`, which names the app.
    public var topic: Topic
    /// The header `apns-push-type`, or `nil` to omit it.
    public var pushType: PushType?
    /// The header `apns-priority`, the urgency of the delivery.
    public var priority: Priority
    /// The header `apns-expiration`, the time until which the push service stores the notification for an offline
    /// device.
    public var expiration: Expiration
    /// The header `apns-collapse-id`, 1 to 64 bytes long, without control characters and without leading or trailing
    /// spaces, or `nil` to omit it. Of the notifications with the same id, a device shows only the newest.
    public var collapseID: String?
    /// The JSON text, which is sent unchanged. Copies of a notification share its memory.
    public var payload: ByteBuffer

    /// Creates a notification whose payload is a `ByteBuffer`.
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

    /// Creates a notification whose payload is a string with JSON text.
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

    /// Returns whether a text can be the value of a header field: it has no control character, and no leading or
    /// trailing space (RFC 9113 section 8.2.1).
    package static func isHeaderValue(_ text: String) -> Bool {
        let bytes = text.utf8
        return bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f } && bytes.first != 0x20 && bytes.last != 0x20
    }

    /// Returns a new random `apns-id`. Each push requires a different one.
    public static func makeID() -> String { UUID().uuidString.lowercased() }
}

/// The type of a notification: the header `apns-push-type` (APNs reference 1.6).
public enum PushType: String, CaseIterable, Hashable, Sendable {
    /// A push type for an alert, a badge or a sound.
    case alert
    /// A push type for an update in the background, which the user does not see.
    case background
    /// A push type for an update of a complication on a watch.
    case complication
    /// A push type for a reload of an app's controls.
    case controls
    /// A push type for a change of the contents of a file provider.
    case fileprovider
    /// A push type for the start, an update or the end of a Live Activity.
    case liveactivity
    /// A push type for a request for the location of the device.
    case location
    /// A push type for a message of a device management (MDM) server.
    case mdm
    /// A push type for an update of a Push to Talk session.
    case pushtotalk
    /// A push type for an incoming call of an app for voice over IP.
    case voip
    /// A push type for a reload of an app's widgets.
    case widgets

    /// The suffix of the topic after the bundle id. It is empty if the topic is the bundle id or, for `mdm`, the UID of
    /// a certificate.
    public var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The maximum size of a payload over HTTP/2, in bytes (APNs reference 3.6).
    public var maximumPayloadSize: Int { self == .voip ? 5120 : 4096 }
}

/// The urgency of a delivery, the header `apns-priority` (APNs reference 1.5).
public enum Priority: UInt8, CaseIterable, Hashable, Sendable {
    /// A priority that puts the device's power first: the delivery never wakes the device.
    case low = 1
    /// A priority that considers the device's power: deliveries may be grouped and deferred.
    case powerAware = 5
    /// A priority with which the notification is delivered immediately. It is the default.
    case immediate = 10
}

extension Priority {
    /// Parses the value of the header. Returns `nil` for a value that leads to `BadPriority`.
    package init?(header text: String) {
        switch text {
        case "10": self = .immediate
        case "5": self = .powerAware
        case "1": self = .low
        default: return nil
        }
    }
}

/// The time until which the push service stores a notification for an offline device: the header `apns-expiration`.
public enum Expiration: Hashable, Sendable {
    /// The push service's own policy, which stores the notification for at most 30 days. The header is omitted.
    case servicePolicy
    /// One attempt at delivery, without storage. The value of the header is 0.
    case immediate
    /// A UNIX time in seconds. A small number is a time in 1970, which has already passed (APNs reference 1.5).
    case at(seconds: Int64)

    /// The maximum time for which Apple stores a notification: 30 days (APNs reference 7.1).
    package static let longestStorage: Duration = .seconds(30 * 24 * 3600)

    /// Parses the value of the header, which consists of decimal digits. Returns `nil` for a value that leads to
    /// `BadExpirationDate`.
    package init?(header text: String) {
        var seconds: Int64 = 0
        for digit in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            let (tens, overflow) = seconds.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflow) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
            guard !overflow, !sumOverflow else { return nil }
            seconds = sum
        }
        guard !text.isEmpty else { return nil }
        self = seconds == 0 ? .immediate : .at(seconds: seconds)
    }

    /// The value of the header, or `nil` to omit the header.
    package var header: String? {
        switch self {
        case .servicePolicy: nil
        case .immediate: "0"
        case .at(let seconds): String(seconds)
        }
    }

    /// Returns the time at which a notification that was accepted at `now` expires, or `nil` if it must not be stored.
    package func storageEnd(acceptedAt now: Timestamp) -> Timestamp? {
        let longest = now.advanced(by: Self.longestStorage)
        switch self {
        case .servicePolicy: return longest
        case .immediate: return nil
        case .at(let seconds): return min(Timestamp(seconds: seconds), longest)
        }
    }
}

/// The importance of a notification, which determines how the device presents it (APNs reference 3.1).
package enum InterruptionLevel: String, Hashable, Sendable, Codable, CaseIterable {
    /// A level at which the notification appears in the list, but neither lights the screen nor plays a sound.
    case passive
    case active
    case timeSensitive = "time-sensitive"
    case critical
}
