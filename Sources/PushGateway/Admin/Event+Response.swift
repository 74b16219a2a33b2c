import Foundation
import PushHTTP
import PushTypes

/// An event in a response of the admin API.
extension Event: ResponseObject {
    /// The device; `nil` for a broadcast as a whole.
    fileprivate var oneDevice: UUID? { self.device == RoutingStateMachine.allDevices ? nil : self.device }

    static let members: [ResponseMember<Self>] = [
        .required("id", \.id, "The id, which increases with every event."),
        .required("timeMs", \.time),
        .required("event", \.name.text, "The name for people: that of Apple where Apple has one."),
        .required("name", \.name.code, "The name for programs."),
        .optional("environment", \.environment),
        .optional("device", \.oneDevice),
        .optional("topic", \.topic),
        .optional("apnsId", \.apnsID),
    ]
}

/// The state of one notification at one device.
struct NotificationState: ResponseObject {
    /// The newest event of the notification at this device.
    let last: Event

    static let members: [ResponseMember<Self>] = [
        .optional("device", \.last.oneDevice),
        .optional("environment", \.last.environment),
        .optional("topic", \.last.topic),
        .required("state", \.text),
        .required("sinceMs", \.last.time),
    ]

    /// The state in words.
    var text: String {
        switch self.last.name {
        case .received: "sent to the device, not acknowledged yet"
        case .delivered: "delivered"
        case .deliveredFromStorage: "delivered from storage"
        case .storedOffline: "stored until the device connects"
        case .storedUnfiltered: "stored until the device asks for its topic"
        case .storedPower: "stored until the device can be woken or asks for it"
        case .replaced: "discarded: a newer one took its place"
        case .expired: "discarded: it expired"
        case .unregistered, .unregisteredFromStorage: "discarded: the token is not registered"
        case .disabled, .disabledFromStorage: "discarded: the device does not want this topic"
        case .rejectedByDevice: "discarded: the device refused it"
        case .tooManyRequests: "refused with 429: too much was sent to the device"
        case .activated, .connected, .disconnected, .tokenMinted, .appRemoved, .deleted, .revoked, .subscribed,
            .unsubscribed:
            self.last.name.text
        }
    }
}
