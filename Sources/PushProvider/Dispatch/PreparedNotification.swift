import PushSender
import PushStore
import PushSupport
import PushTypes

/// A notification with everything that its pages share.
struct PreparedNotification: Sendable {
    let record: NotificationRecord
    let decoded: DecodedNotification
    /// The notification's number in the store.
    let number: Int64
    let app: AppRecord?
    let senders: [PushEnvironment: any NotificationSender]
    /// The reasons for which environments have no sender.
    let faults: [PushEnvironment: String]
    let expiry: RecipientExpiry
    /// `true` if the push service's responses prove something about the tokens: the topic is the app's own for their kind.
    /// A push of another topic is rejected however good the tokens are.
    let hasTopicOfTokens: Bool
    /// `true` if a webhook subscribes to deliveries.
    let reportsDeliveries: Bool

    /// - Parameter zone: The devices of the shard; `nil` for retries.
    init(
        _ record: NotificationRecord,
        _ decoded: DecodedNotification,
        number: Int64,
        zone: ShardPlan.Zone?,
        app: AppRecord?,
        senders: (usable: [PushEnvironment: any NotificationSender], faults: [PushEnvironment: String]),
        reportsDeliveries: Bool
    ) {
        (self.record, self.decoded, self.number, self.app) = (record, decoded, number, app)
        (self.senders, self.faults) = senders
        self.expiry = RecipientExpiry(record, in: zone)
        self.hasTopicOfTokens = app.map { record.content.hasTopicOfTokens(bundleID: $0.bundleID) } ?? false
        self.reportsDeliveries = reportsDeliveries
    }

    /// Returns the parts of the profiles of a shard's recipients that have to be read.
    func needs(in zone: ShardPlan.Zone) -> RecipientNeeds {
        (self.decoded.renderer?.needs ?? []).union(self.reportsDeliveries ? [.user] : [])
            .union(zone == .remainder ? [.timeZone] : [])
    }
}

extension NotificationContent {
    /// Returns whether the topic is that of an app's tokens to which the push goes. Before there were kinds, every token
    /// counted as one for alerts.
    func hasTopicOfTokens(bundleID: Topic) -> Bool { (self.tokenKind ?? .alert).topic(of: bundleID) == self.topic }
}
