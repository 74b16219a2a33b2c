import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushTypes

/// A delivery in a response: the state of one recipient.
struct DeliveryResponse: Encodable {
    var notification: String
    /// `nil` for a token that is not registered.
    var deviceId: Int64?
    /// The first bytes of the token.
    var token: String?
    var environment: String?
    /// A final state, or `sending`.
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
            "atMs": .timestamp,
        ],
        optional: [
            "deviceId": .integer().described("Absent for a token that is not registered."),
            "token": .string().described("The first bytes."), "environment": .environment,
            "reason": .string().described("The reason of the push service, or of the provider."),
        ]
    ).named("Delivery")
}
