package import PushTypes

/// A block of events, and what became of it at one webhook.
package struct WebhookDeliveryRecord: Hashable, Sendable {
    /// The position of the block, from which events can be posted again.
    package var block: Int64
    package var kind: WebhookRecord.Event
    /// The time of its events.
    package var at: Timestamp
    /// The length of the events as they are stored; 0 for those of tokens, which are stored elsewhere.
    package var bytes: Int
    /// Indicates whether the receiver has accepted the block, or it was passed over.
    package var isAcknowledged: Bool
    /// The times of the latest post that the receiver accepted; `nil` if there was none, or not any more.
    package var postedAt, acknowledgedAt: Timestamp?
}
