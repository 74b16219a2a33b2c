package import ProviderModel
package import PushTypes

/// The recipients of one notification whose next attempt is due, leased to the caller.
package struct RetryClaim: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The internal number by which the store identifies the notification.
    package var notificationNumber: Int64
    package var recipients: [RetryRecipient]
    package var fence: Int64
    /// The value of the registration clock, a counter of device changes, when the recipients were read.
    package var readAt: Int64
    /// The earliest due time of the recipients, by the steady clock, or `nil` if none of them had a due time.
    package var dueSince: Timestamp?
    /// The time of the claim, by the later of the wall and steady clocks, or `nil` until the dispatcher sets it.
    package var claimedAt: Timestamp?
}

/// A claimed recipient of the retry queue, with the action that the caller has to take.
package enum RetryRecipient: Hashable, Sendable {
    case due(Recipient)
    /// A recipient for which no further attempt is made, so that the caller only writes the final state.
    case ended(EndedRetry)

    package var id: Int64 {
        switch self {
        case .due(let recipient): recipient.id
        case .ended(let retry): retry.id
        }
    }
}

/// A recipient for which no further attempt is made, with the cause.
package struct EndedRetry: Hashable, Sendable {
    /// The recipient's id within the notification (``Recipient/id``).
    package var id: Int64
    /// The recipient, or `nil` if its device or token can no longer be read.
    package var recipient: Recipient?
    package var attempts: Int
    package var cause: EndingCause
    /// A Boolean value that indicates whether an earlier push may have arrived (``Recipient/mayHaveArrived``).
    package var mayHaveArrived = false

    package var state: DeliveryRecord.State { self.cause.state.ending(mayHaveArrived: self.mayHaveArrived) }

    package init(id: Int64, recipient: Recipient?, attempts: Int, cause: EndingCause, mayHaveArrived: Bool = false) {
        (self.id, self.recipient, self.attempts) = (id, recipient, attempts)
        (self.cause, self.mayHaveArrived) = (cause, mayHaveArrived)
    }
}

extension Recipient {
    /// The final state without a further attempt: failed or, if an earlier push may have arrived, unknown.
    package var failure: DeliveryRecord.State { .failed.ending(mayHaveArrived: self.mayHaveArrived) }
}

extension NotificationRecord {
    /// The fields of a recipient's profile that a retry and its webhook events need.
    ///
    /// They are read in the transaction that claims the recipient. The store cannot tell which fields a template uses,
    /// so it reads all of them. The cost is low, because retries are few.
    package var retryNeeds: RecipientProfileFields {
        if self.content.isTemplate { return [.user, .locale, .timeZone, .appVersion, .attributes] }
        return self.delivery == nil ? [.user] : [.user, .timeZone]
    }
}
