import Foundation
import PushProtocol
import PushProvider
import PushStore

/// A notification and its progress.
struct NotificationAnswer: Encodable {
    struct Counters: Encodable {
        var accepted: Int
        var rejected: Int
        var failed: Int
        var retrying: Int
    }

    var id: String
    /// `accepted`, `sending` or `done`.
    var state: String
    var counters: Counters
    /// Milliseconds since 1970, as every time here.
    var createdAtMs: Int64
    var finishedAtMs: Int64?

    init(_ notification: NotificationRecord) {
        self.id = notification.id.uuidString
        self.state = notification.state.rawValue
        let counters = notification.progress
        self.counters = Counters(
            accepted: counters.accepted,
            rejected: counters.rejected,
            failed: counters.failed,
            retrying: counters.retrying
        )
        self.createdAtMs = notification.createdAt.milliseconds
        self.finishedAtMs = notification.progress.finishedAt?.milliseconds
    }
}

/// What became of one recipient.
struct DeliveryAnswer: Encodable {
    /// `nil` for a token that is not registered.
    var deviceId: Int64?
    /// The first bytes only.
    var token: String?
    var environment: String?
    /// `accepted`, `rejected` or `failed`: final.
    var state: String
    var apnsId: String
    var reason: String?
    var attempts: Int
    var atMs: Int64

    init(_ delivery: DeliveryRecord) {
        self.deviceId = delivery.device
        self.token = delivery.token?.description
        self.environment = delivery.environment?.rawValue
        self.state = delivery.state.word
        self.apnsId = DeliveryID(notification: delivery.notification).text(recipient: delivery.recipient)
        self.reason = delivery.reason
        self.attempts = delivery.attempts
        self.atMs = delivery.at.milliseconds
    }
}

/// A page of deliveries.
struct DeliveriesAnswer: Encodable {
    var deliveries: [DeliveryAnswer]
    /// Ask for what follows with `after`; absent at the end.
    var next: Int64?
}
