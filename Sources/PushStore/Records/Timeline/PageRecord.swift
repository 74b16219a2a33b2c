package import PushTypes

/// A page as it is remembered.
package struct PageRecord: Hashable, Sendable {
    package var times: PageTimes
    package var committedAt: Timestamp
    /// The number of recipients that it sent to or ended.
    package var recipients: Int
    package var isRetry: Bool
    /// The block of its events for webhooks; `nil` if it has none.
    package var block: Int64?
}

/// The pages of a notification, summarized.
package struct PageSummary: Hashable, Sendable {
    package var pages: Int
    package var recipients: Int
    package var firstClaimedAt, firstSentAt, lastAnsweredAt, lastCommittedAt: Timestamp
    /// The longest time of a page from its sending to its last response.
    package var longest: Duration
}
