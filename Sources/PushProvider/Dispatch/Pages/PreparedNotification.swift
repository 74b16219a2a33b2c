import ProviderModel
import PushSender
import PushStore
import PushTypes

/// A notification with the data that all its pages share. It is a class because many functions and tasks receive it.
final class PreparedNotification: Sendable {
    let record: NotificationRecord
    let decoded: DecodedNotification
    /// Encrypts the payload of each recipient, or is `nil` if the content is damaged or not encrypted.
    let envelope: EncryptedEnvelope?
    /// The number of the notification's row in the store.
    let number: Int64
    let app: AppRecord?
    let senders: [PushEnvironment: any NotificationSender]
    let endpoints: [PushEnvironment: PushServiceEndpoint]
    let faults: [PushEnvironment: ConfigurationFault]
    /// The epochs of the credentials: the numbers of their changes (``StoredCredential/epoch``).
    let epochs: [PushEnvironment: Int64]
    let pauses: [PushEnvironment: EnvironmentPause]
    let expiry: RecipientExpiry
    /// The channel of a broadcast, or `nil` for a notification to devices.
    let channel: BroadcastChannel?
    /// A Boolean value that indicates whether the push has the app's own topic for this kind of tokens, so that a
    /// rejection can be due to the token. A push with another topic is rejected even if the token is valid.
    let hasTopicOfTokens: Bool
    let reportsDeliveries: Bool

    /// Creates a notification for sending. `zone` is the time zone of the shard's devices, or `nil` for retries.
    init(
        _ record: NotificationRecord,
        _ decoded: DecodedNotification,
        number: Int64,
        zone: ShardPlan.Zone?,
        app: AppRecord?,
        senders: AppSenders,
        pauses: [PushEnvironment: EnvironmentPause],
        reportsDeliveries: Bool
    ) {
        (self.record, self.decoded, self.number, self.app) = (record, decoded, number, app)
        (self.senders, self.endpoints) = (senders.usable, senders.endpoints)
        (self.faults, self.epochs) = (senders.faults, senders.epochs)
        self.pauses = pauses
        self.envelope = app.flatMap {
            try? EncryptedEnvelope(record.content, bundleID: $0.bundleID, notification: record.id)
        }
        self.expiry = RecipientExpiry(record, in: zone)
        if case .channel(let channel) = record.audience { self.channel = channel } else { self.channel = nil }
        self.hasTopicOfTokens =
            self.channel == nil && app.map { record.content.hasTopicOfTokens(bundleID: $0.bundleID) } ?? false
        self.reportsDeliveries = reportsDeliveries
    }

    /// Returns the fault that holds recipients of an environment back, or `nil` if there is none.
    ///
    /// A missing credential is a fault only if it was removed, or if the notification cannot be sent to another
    /// environment: an app that sends to one environment may have devices in the other.
    func fault(of environment: PushEnvironment) -> ConfigurationFault? {
        if let fault = self.pauses[environment]?.fault ?? self.faults[environment] { return fault }
        guard self.senders[environment] == nil else { return nil }
        let isNeeded = self.record.environment == environment || self.senders.isEmpty && self.faults.isEmpty
        // An environment that never had a credential is in its first epoch.
        let wasRemoved = self.epochs[environment, default: 0] > 0
        return isNeeded || wasRemoved ? .missing(environment) : nil
    }

    /// The environments whose pauses hold the whole notification back, or `nil` if at least a part of it can be sent.
    var holding: HoldingEnvironments? {
        guard !self.pauses.isEmpty else { return nil }
        if let environment = self.record.environment {
            return self.pauses[environment] == nil ? nil : .one(environment)
        }
        let known = Set(self.senders.keys).union(self.faults.keys)
        return known.allSatisfy { self.pauses[$0] != nil } ? .all : nil
    }

    /// Returns the fields of the recipients' profiles that must be read for a shard.
    func needs(in zone: ShardPlan.Zone) -> RecipientProfileFields {
        (self.decoded.renderer?.needs ?? []).union(self.reportsDeliveries ? [.user] : [])
            .union(zone == .remainder ? [.timeZone] : []).union(self.cap == nil ? [] : [.user])
    }

    /// The maximum number of recipients of a page. It is small for encrypted content, because encryption takes a tenth
    /// of a millisecond for each recipient, and a page must not block a thread for long.
    var maximumPage: Int { self.envelope == nil && !self.isWeb ? .max : 200 }

    var isWeb: Bool { self.record.content.isWeb }

    /// The app's frequency cap, or `nil` if there is none, or if this notification does not count towards it.
    var cap: FrequencyCap? { self.record.consent.ignoresCap ? nil : self.app?.cap }

    /// Returns whether a push should be sent to a recipient now: it has not expired, and no fault holds it back.
    func isSent(_ recipient: Recipient, at now: Timestamp) -> Bool {
        self.senders[recipient.environment] != nil && self.pauses[recipient.environment] == nil
            && self.expiry.end(of: recipient) > now
    }
}

extension NotificationContent {
    /// Returns whether the content has the topic of the tokens to which it is sent. Content without a kind of tokens is
    /// sent to tokens for alerts.
    func hasTopicOfTokens(bundleID: Topic) -> Bool { (self.tokenKind ?? .alert).topic(of: bundleID) == self.topic }
}

extension PreparedNotification {
    /// Encodes a final state as an event for webhooks, and appends it to `events`.
    func append(_ delivery: DeliveryResult, of recipient: Recipient?, to events: inout WebhookEventEncoder) {
        events.append(
            delivery,
            apnsID: self.decoded.ids.text(recipient: delivery.recipient),
            to: recipient,
            channel: self.channel?.id,
            notification: self.record.id
        )
    }

    /// Returns the final state of a recipient for which no attempt, or no further attempt, is made.
    func ended(_ retry: EndedRetry, at now: Timestamp) -> DeliveryResult {
        DeliveryResult(
            recipient: retry.id,
            device: retry.recipient?.device ?? (retry.id > 0 ? retry.id : nil),
            state: retry.state,
            reason: retry.cause.rawValue,
            attempts: retry.attempts,
            at: now
        )
    }

    /// Returns the final state of a skipped recipient.
    ///
    /// The state is unknown if the response to an earlier attempt was lost, because that push may have arrived.
    func skipped(_ recipient: Recipient, _ reason: SkipReason, at now: Timestamp) -> DeliveryResult {
        DeliveryResult(
            recipient: recipient.id,
            device: recipient.device,
            state: .skipped.ending(mayHaveArrived: recipient.mayHaveArrived),
            reason: reason.text(category: self.record.consent.category),
            attempts: recipient.attempts,
            at: now
        )
    }

    /// Returns a final state with its webhook event. The event is written only if the state is written.
    func reported(_ delivery: DeliveryResult, of recipient: Recipient?) -> ReportedDelivery {
        var events = WebhookEventEncoder()
        if self.reportsDeliveries { self.append(delivery, of: recipient, to: &events) }
        return ReportedDelivery(delivery, event: events.isEmpty ? nil : events.data)
    }
}
