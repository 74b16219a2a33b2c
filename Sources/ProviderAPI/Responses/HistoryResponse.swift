import Foundation
import PushProvider
import PushStore
import PushTypes

/// What became of one recipient.
struct DeliveryResponse: Encodable {
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
struct DeliveryListResponse: Encodable {
    var deliveries: [DeliveryResponse]
    var next: String?

    init(_ deliveries: [DeliveryRecord], limit: Int) {
        self.deliveries = deliveries.map(DeliveryResponse.init)
        self.next =
            deliveries.count == limit
            ? deliveries.last.map { Cursor(list: .deliveries, position: $0.recipient).text } : nil
    }

    static let schema = Schema.page("deliveries", of: DeliveryResponse.schema)
}

/// What was done to a token, and why.
struct TokenEventResponse: Encodable {
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
struct TokenEventListResponse: Encodable {
    var events: [TokenEventResponse]
    var next: String?

    init(_ events: [TokenEventRecord], limit: Int) {
        self.events = events.map(TokenEventResponse.init)
        self.next = events.count == limit ? events.last.map { Cursor(list: .tokenEvents, position: $0.id).text } : nil
    }

    static let schema = Schema.page("events", of: TokenEventResponse.schema)
}

/// Everything that happened to a token or a user, each newest first.
struct HistoryResponse: Encodable {
    var devices: [DeviceResponse]
    var deliveries: [DeliveryResponse]
    var tokenEvents: [TokenEventResponse]
    var next: String?

    init(devices: [DeviceResponse], _ page: HistoryPage) {
        self.devices = devices
        self.deliveries = page.deliveries.map(DeliveryResponse.init)
        self.tokenEvents = page.events.map(TokenEventResponse.init)
        self.next = page.next?.text
    }

    static let schema = Schema.object(
        required: [
            "devices": .array(of: DeviceResponse.schema), "deliveries": .array(of: DeliveryResponse.schema),
            "tokenEvents": .array(of: TokenEventResponse.schema),
        ],
        optional: ["next": .string().described("There is more of either list: give it back as cursor.")]
    ).named("History")
}
