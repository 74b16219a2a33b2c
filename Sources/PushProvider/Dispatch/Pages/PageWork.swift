import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTypes

/// The recipients of a page, grouped by what is done with them.
struct PageWork: Sendable {
    /// The recipients to which pushes are sent now.
    var recipients: [Recipient] = []
    /// The retries of recipients to which pushes may not be sent yet.
    var postponed: [RetryResult] = []
    /// The recipients to which no push is sent, and which only get their final state.
    var ended: [EndedRetry] = []
    var skipped: [(recipient: Recipient, reason: SkipReason)] = []
    /// The value of the store's registration clock, a counter of device changes, when the recipients were read.
    let readAt: Int64

    /// Creates the work on a page of a shard. `recipients` are those to which pushes are sent now.
    init(_ page: RecipientPage, recipients: [Recipient]) {
        self.recipients = recipients
        self.readAt = page.readAt
        self.ended = page.ended
        self.postponed = page.held.map(RetryResult.held)
    }

    init(_ claim: RetryClaim, of notification: PreparedNotification, at clocks: ClockReading) {
        self.readAt = claim.readAt
        let delivery = claim.notification.delivery
        let hours = delivery?.window == nil ? nil : delivery
        let now = clocks.wall
        for retry in claim.recipients {
            switch retry {
            case .due(let recipient):
                self.add(recipient, at: hours?.opening(onOrAfter: now, for: recipient.timeZone) ?? now, clocks)
            case .ended(let retry): self.ended.append(retry)
            }
        }
        self.skipUnwanted(notification, at: clocks)
    }

    /// Adds a recipient to which a push may be sent from `start` by the wall clock. A later start postpones it.
    mutating func add(_ recipient: Recipient, at start: Timestamp, _ clocks: ClockReading) {
        if start > clocks.wall {
            self.postponed.append(RetryResult(recipient, dueAt: clocks.steady(atWall: start)))
        } else {
            self.recipients.append(recipient)
        }
    }
}

extension PageWork {
    /// The recipients to which pushes are sent, as they were read from the store.
    var snapshot: PageSnapshot { PageSnapshot(self.recipients, clock: self.readAt) }
}

extension RetryResult {
    /// Creates a retry that keeps the state of the recipient unchanged.
    init(_ recipient: Recipient, dueAt: Timestamp) {
        self.init(
            recipient: recipient.id,
            environment: recipient.movedFrom == nil ? nil : recipient.environment,
            attempts: recipient.attempts,
            dueAt: dueAt
        )
        self.mayHaveArrived = recipient.mayHaveArrived
    }
}

extension Recipient {
    /// The time zone of the device, or `nil` if it has none, or an unknown one.
    var timeZone: TimeZone? { self.profile?.timeZone.flatMap { TimeZone(named: $0) } }
}
