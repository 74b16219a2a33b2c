import Foundation
import PushProtocol
import PushStore

/// What is to be done with the recipients of a page.
struct PageWork: Sendable {
    /// To be sent to now.
    var recipients: [Recipient] = []
    /// Whose time has not come.
    var later: [RetryResult] = []
    /// Whose final state is to be written.
    var over: [EndedRetry] = []

    /// - Parameter recipients: those of the page that are sent to now.
    init(_ page: RecipientPage, recipients: [Recipient]) {
        self.recipients = recipients
        self.over = page.unreadable
        self.later = page.held.map(RetryResult.held)
    }

    /// - Parameter hours: those in which the notification may be sent; `nil`: at any.
    init(retries: [RetryRecipient], hours: DeliveryTime?, now: Timestamp) {
        for retry in retries {
            switch retry {
            case .here(let recipient):
                self.add(recipient, at: hours?.opening(onOrAfter: now, for: recipient.timeZone) ?? now, now: now)
            case .over(let retry): self.over.append(retry)
            }
        }
    }

    mutating func add(_ recipient: Recipient, at moment: Timestamp, now: Timestamp) {
        if moment > now {
            self.later.append(RetryResult(recipient, dueAt: moment))
        } else {
            self.recipients.append(recipient)
        }
    }
}

extension RetryResult {
    /// The same once more, as it is.
    init(_ recipient: Recipient, dueAt: Timestamp) {
        self.init(
            recipient: recipient.id,
            environment: recipient.movedFrom == nil ? nil : recipient.environment,
            attempts: recipient.attempts,
            dueAt: dueAt
        )
    }
}

extension Recipient {
    /// `nil` for none or one that is not known.
    var timeZone: TimeZone? { self.profile?.timeZone.flatMap { TimeZone(named: $0) } }
}
