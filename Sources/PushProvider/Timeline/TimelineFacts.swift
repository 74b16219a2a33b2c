import PushStore
import PushSupport
import PushTypes

/// Everything from which the timeline of one delivery is made.
struct DeliveryFacts: Sendable {
    var notification: NotificationRecord
    var app: Topic?
    var recipient: Int64
    var history: DeliveryHistory
    var gateway: GatewayFacts = .off
    /// The clocks by which the time of a next try is shown.
    var clocks: ClockReading
    /// The pause that holds the next try; `nil` if none does.
    var pause: EnvironmentStatus?
}

/// The gateway's events of a push.
enum GatewayFacts: Hashable, Sendable {
    /// None is configured.
    case off
    case events([GatewayEvent])
    /// It did not respond in time, or with something else than events.
    case failed(String)
}

/// Everything from which the timeline of a notification is made.
struct NotificationFacts: Sendable {
    var notification: NotificationRecord
    var app: Topic?
    var history: NotificationHistory
    /// The numbers of receipts.
    var receipts: [ReceiptCount] = []
}
