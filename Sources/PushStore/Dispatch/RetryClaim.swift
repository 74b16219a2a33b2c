package import ProviderModel
package import PushTypes

/// The recipients of one notification whose next attempt is due, leased to the caller.
package struct RetryClaim: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The store's own number of the notification.
    package var notificationNumber: Int64
    package var recipients: [RetryRecipient]
    /// The fencing number of the lease.
    package var fence: Int64
    /// The reading of the registration clock when the recipients were read.
    package var readAt: Int64
    /// The earliest due time of the recipients, by the steady clock; `nil` if none of them waited for a time.
    package var dueSince: Timestamp?
    /// The time of the claim, by the later clock.
    package var claimedAt: Timestamp?
}

/// A recipient of the retry queue that was claimed.
package enum RetryRecipient: Hashable, Sendable {
    case due(Recipient)
    /// The recipient gets no further attempt. Only its final state is to be written.
    case ended(EndedRetry)

    /// See ``Recipient/id``.
    package var id: Int64 {
        switch self {
        case .due(let recipient): recipient.id
        case .ended(let retry): retry.id
        }
    }
}

/// A recipient of the retry queue that gets no further attempt.
package struct EndedRetry: Hashable, Sendable {
    /// See ``Recipient/id``.
    package var id: Int64
    /// The recipient; `nil` if it is not known any more.
    package var recipient: Recipient?
    package var attempts: Int
    package var cause: EndingCause
    /// See ``Recipient/mayHaveArrived``.
    package var mayHaveArrived = false

    /// The final state of the recipient.
    package var state: DeliveryRecord.State { self.cause.state.ending(mayHaveArrived: self.mayHaveArrived) }

    package init(id: Int64, recipient: Recipient?, attempts: Int, cause: EndingCause, mayHaveArrived: Bool = false) {
        (self.id, self.recipient, self.attempts) = (id, recipient, attempts)
        (self.cause, self.mayHaveArrived) = (cause, mayHaveArrived)
    }
}

extension Recipient {
    /// The final state of the recipient if no further attempt is made.
    package var failure: DeliveryRecord.State { .failed.ending(mayHaveArrived: self.mayHaveArrived) }
}

extension NotificationRecord {
    /// The parts of a recipient's profile that a retry and its events need.
    ///
    /// They are read in the transaction that claims the recipient. The store does not know which parts a template needs, so
    /// it reads all of them: retries are few.
    package var retryNeeds: RecipientProfileFields {
        if self.content.isTemplate { return [.user, .locale, .timeZone, .appVersion, .attributes] }
        return self.delivery == nil ? [.user] : [.user, .timeZone]
    }
}
