import Foundation
import PushStore
import PushSupport
import PushTypes

/// What is to be done with the recipients of a page.
struct PageWork: Sendable {
    /// To be sent to now.
    var recipients: [Recipient] = []
    /// Whose time has not come.
    var later: [RetryResult] = []
    /// Whose final state is to be written.
    var over: [EndedRetry] = []
    /// The registration clock's number when the recipients were read.
    let readAt: Int64

    /// The work of a page of a shard.
    /// - Parameter recipients: those of the page that are sent to now.
    init(_ page: RecipientPage, recipients: [Recipient]) {
        self.recipients = recipients
        self.readAt = page.readAt
        self.over = page.unreadable
        self.later = page.held.map(RetryResult.held)
    }

    /// The work of due retries.
    /// - Parameter hours: those in which the notification may be sent; `nil`: at any.
    init(_ claim: RetryClaim, hours: DeliveryTime?, at clocks: ClockReading) {
        self.readAt = claim.readAt
        let now = clocks.wall
        for retry in claim.recipients {
            switch retry {
            case .here(let recipient):
                self.add(recipient, at: hours?.opening(onOrAfter: now, for: recipient.timeZone) ?? now, clocks)
            case .over(let retry): self.over.append(retry)
            }
        }
    }

    /// - Parameter moment: of the wall clock.
    mutating func add(_ recipient: Recipient, at moment: Timestamp, _ clocks: ClockReading) {
        if moment > clocks.wall {
            self.later.append(RetryResult(recipient, dueAt: clocks.steady(atWall: moment)))
        } else {
            self.recipients.append(recipient)
        }
    }
}

extension PageWork {
    /// The recipients that are sent to, as they were read.
    var reading: PageReading { PageReading(self.recipients, clock: self.readAt) }

    /// How long it takes at most until clocks that disagree are asked again.
    private static let longestHold: Duration = .seconds(3600)

    /// Keeps what has expired by the wall clock only until both agree: it may be ahead.
    mutating func holdBack(_ expires: Timestamp, at clocks: ClockReading) {
        guard expires <= clocks.wall, expires > clocks.steady else { return }
        let dueAt = clocks.steady.advanced(by: min(expires.since(clocks.steady), Self.longestHold))
        self.later += self.recipients.map { RetryResult($0, dueAt: dueAt) }
        self.recipients = []
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
