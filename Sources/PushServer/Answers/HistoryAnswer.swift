import Foundation
import PushProtocol
import PushProvider
import PushStore

/// What became of one recipient.
struct DeliveryAnswer: Encodable {
    var notification: String
    /// `nil` for a token that is not registered.
    var deviceId: Int64?
    /// The first bytes only.
    var token: String?
    var environment: String?
    /// Final, but for `sending`.
    var state: String
    var apnsId: String
    var reason: String?
    var attempts: Int
    var atMs: Int64

    init(_ delivery: DeliveryRecord) {
        self.notification = delivery.notification.uuidString
        self.deviceId = delivery.device
        self.token = delivery.token?.description
        self.environment = delivery.environment?.rawValue
        self.state = delivery.state.word
        self.apnsId = DeliveryID(notification: delivery.notification).text(recipient: delivery.recipient)
        self.reason = delivery.reason
        self.attempts = delivery.attempts
        self.atMs = delivery.at.milliseconds
    }

    static let states = DeliveryRecord.State.allCases.map(\.word)

    static let schema = Schema.object(
        required: [
            "notification": .uuid, "state": .choice(Self.states), "apnsId": .uuid, "attempts": .integer(),
            "atMs": .moment,
        ],
        optional: [
            "deviceId": .integer().described("Absent for a token that is not registered."),
            "token": .string().described("The first bytes only."), "environment": .environment,
            "reason": .string().described("The push service's, or ours."),
        ]
    ).named("Delivery")
}

/// A page of deliveries.
struct DeliveriesAnswer: Encodable {
    var deliveries: [DeliveryAnswer]
    var next: String?

    init(_ deliveries: [DeliveryRecord], limit: Int) {
        self.deliveries = deliveries.map(DeliveryAnswer.init)
        self.next =
            deliveries.count == limit
            ? deliveries.last.map { Cursor(list: .deliveries, position: $0.recipient).text } : nil
    }

    static let schema = Schema.page("deliveries", of: DeliveryAnswer.schema)
}

/// What was done to a token, and why.
struct TokenEventAnswer: Encodable {
    var id: Int64
    var action: String
    var deviceId: Int64
    var token: String
    var environment: String
    var reason: String?
    var notification: String?
    var atMs: Int64

    init(_ event: TokenEventRecord) {
        self.id = event.id
        self.action = event.action.rawValue
        self.deviceId = event.device
        self.token = event.token.hex
        self.environment = event.environment.rawValue
        self.reason = event.reason
        self.notification = event.notification?.uuidString
        self.atMs = event.at.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "id": .integer(), "action": .choice(TokenEventRecord.Action.allCases.map(\.rawValue)),
            "deviceId": .integer(), "token": .string(), "environment": .environment, "atMs": .moment,
        ],
        optional: ["reason": .string(), "notification": .uuid]
    ).named("TokenEvent")
}

/// A page of token events.
struct TokenEventsAnswer: Encodable {
    var events: [TokenEventAnswer]
    var next: String?

    init(_ events: [TokenEventRecord], limit: Int) {
        self.events = events.map(TokenEventAnswer.init)
        self.next = events.count == limit ? events.last.map { Cursor(list: .tokenEvents, position: $0.id).text } : nil
    }

    static let schema = Schema.page("events", of: TokenEventAnswer.schema)
}

/// Everything that happened to a token or a user, each newest first.
struct HistoryAnswer: Encodable {
    var devices: [DeviceAnswer]
    var deliveries: [DeliveryAnswer]
    var tokenEvents: [TokenEventAnswer]
    var next: String?

    init(devices: [DeviceAnswer], _ page: HistoryPage) {
        self.devices = devices
        self.deliveries = page.deliveries.map(DeliveryAnswer.init)
        self.tokenEvents = page.events.map(TokenEventAnswer.init)
        self.next = page.next?.text
    }

    static let schema = Schema.object(
        required: [
            "devices": .array(of: DeviceAnswer.schema), "deliveries": .array(of: DeliveryAnswer.schema),
            "tokenEvents": .array(of: TokenEventAnswer.schema),
        ],
        optional: ["next": .string().described("There is more of either list: give it back as cursor.")]
    ).named("History")
}
