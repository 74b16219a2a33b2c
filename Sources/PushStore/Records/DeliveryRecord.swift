package import Foundation
package import PushTypes

/// The one final state of a recipient, as it is looked up.
package struct DeliveryRecord: Hashable, Sendable {
    package enum State: Int64, Hashable, Sendable, CaseIterable {
        /// At-most-once only: it may be on its way. The start after a crash makes it failed.
        case sending = 0
        /// The push service took it.
        case accepted = 1
        /// The push service refused it.
        case rejected = 2
        /// It could not be sent in time, or in the number of tries allowed.
        case failed = 3
        /// There was nothing to send: the device left, or its token has had the notification by another registration.
        case skipped = 4

        /// As it is shown.
        package var word: String {
            switch self {
            case .sending: "sending"
            case .accepted: "accepted"
            case .rejected: "rejected"
            case .failed: "failed"
            case .skipped: "skipped"
            }
        }
    }

    /// Of the notification.
    package var notification: UUID
    /// Where the notification stands among all.
    package var position: NotificationCursor
    /// Unique within the notification: a device's id, or below zero for a token that was named explicitly.
    package var recipient: Int64
    /// `nil` if the token is not registered.
    package var device: Int64?
    /// `nil` once the device is gone.
    package var token: DeviceToken?
    package var environment: PushEnvironment?
    package var state: State
    /// The push service's reason, or our own words.
    package var reason: String?
    package var attempts: Int
    package var at: Timestamp

    package init(
        notification: UUID,
        position: NotificationCursor,
        recipient: Int64,
        device: Int64?,
        token: DeviceToken?,
        environment: PushEnvironment?,
        state: State,
        reason: String?,
        attempts: Int,
        at: Timestamp
    ) {
        self.notification = notification
        self.position = position
        self.recipient = recipient
        self.device = device
        self.token = token
        self.environment = environment
        self.state = state
        self.reason = reason
        self.attempts = attempts
        self.at = at
    }
}

/// A recipient's state, to be written.
package struct DeliveryResult: Hashable, Sendable {
    package var recipient: Int64
    package var device: Int64?
    package var state: DeliveryRecord.State
    package var reason: String?
    package var attempts: Int
    package var at: Timestamp

    package init(
        recipient: Int64,
        device: Int64?,
        state: DeliveryRecord.State,
        reason: String? = nil,
        attempts: Int,
        at: Timestamp
    ) {
        self.recipient = recipient
        self.device = device
        self.state = state
        self.reason = reason
        self.attempts = attempts
        self.at = at
    }
}

/// A recipient that is tried again later.
package struct RetryResult: Hashable, Sendable {
    package var recipient: Int64
    /// Where it is tried, if that is not the recipient's own environment.
    package var environment: PushEnvironment?
    package var attempts: Int
    package var dueAt: Timestamp

    /// A recipient that waits for the end of the walk, or for its device's return.
    package static func held(_ recipient: Int64) -> RetryResult {
        RetryResult(recipient: recipient, attempts: 0, dueAt: .endOfWalk)
    }

    package init(recipient: Int64, environment: PushEnvironment? = nil, attempts: Int, dueAt: Timestamp) {
        self.recipient = recipient
        self.environment = environment
        self.attempts = attempts
        self.dueAt = dueAt
    }
}

extension Timestamp {
    /// The due time of a recipient that waits for the end of the walk: the store gives it another one then.
    package static let endOfWalk = Timestamp(milliseconds: .max)
}

/// What an answer says about a device's token.
package struct TokenStateChange: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        /// It was suspected, and works.
        case good
        /// Dead, unless the device registered at this moment or later (reference 7.7).
        case dead(since: Timestamp)
        /// Dead, or the environment or topic is wrong: there is no proof of either.
        case suspect
        /// Dead by its answer, but so are too many others: an operator decides.
        case withheld(since: Timestamp)
        /// It works in this environment, not in its own.
        case moved(to: PushEnvironment)
    }

    package var device: Int64
    package var verdict: Verdict
    /// What the push service said.
    package var reason: String?
    /// The token that was answered about; `nil` if the registration's time decides.
    package var token: DeviceToken?

    package init(device: Int64, verdict: Verdict, reason: String? = nil, token: DeviceToken? = nil) {
        self.token = token
        self.device = device
        self.verdict = verdict
        self.reason = reason
    }
}

/// Everything that one page of recipients came to; committed in one transaction.
package struct PageResult: Hashable, Sendable {
    package var notificationNumber: Int64
    /// The fencing number of the lease under which the recipients were sent to; without one only ``pauses`` is written.
    package var fence: Int64?
    /// The recipients that were sent to; `nil` if none was.
    package var reading: PageReading?
    package var deliveries: [DeliveryResult] = []
    /// Skipped, unless they are back.
    package var departures: [RemovedRecipient] = []
    package var retries: [RetryResult] = []
    package var findings: [TokenStateChange] = []
    /// Where the walk stands; `nil` for a page of retries.
    package var step: ShardStep?
    /// The notification's next page comes no sooner, of whatever shard.
    package var nextPageAt: Timestamp?
    /// The wave that is being sent, after this page.
    package var wave: WaveProgress?
    /// Pauses the notification, for this reason.
    package var pauses: String?
    /// For the webhooks: JSON values that follow each other with commas.
    package var events: Data?

    package init(notificationNumber: Int64, fence: Int64? = nil) {
        self.notificationNumber = notificationNumber
        self.fence = fence
    }

    /// A page of a shard.
    package init(_ claim: ShardClaim) {
        self.init(notificationNumber: claim.notificationNumber, fence: claim.fence)
    }

    /// A page of retries, with which their lease ends.
    package init(_ claim: RetryClaim) {
        self.init(notificationNumber: claim.notificationNumber, fence: claim.fence)
    }
}

/// The recipients of a page as they were read.
package struct PageReading: Hashable, Sendable {
    package var recipients: [Recipient]
    /// The registration clock's number then.
    package var clock: Int64

    package init(_ recipients: [Recipient], clock: Int64) {
        (self.recipients, self.clock) = (recipients, clock)
    }
}

/// A recipient whose device had been removed when its turn came. Where the device has come back by the time this is
/// written, it is due at once instead.
package struct RemovedRecipient: Hashable, Sendable {
    package var delivery: DeliveryResult
    /// For the webhooks: one JSON value.
    package var event: Data?

    package init(_ delivery: DeliveryResult, event: Data?) {
        self.delivery = delivery
        self.event = event
    }
}

/// The response of a store to the commit of a page.
package enum CommitResult: Hashable, Sendable {
    /// It is written, and the notification continues.
    case goesOn
    /// It is written, and the notification has ended or is paused.
    case stops
    /// Nothing is written: the lease was lost, or another page of the shard was written under it.
    case notYours

    package var mayGoOn: Bool { self == .goesOn }
}

/// The response of a store to a page whose sending begins.
package struct StartedPage: Hashable, Sendable {
    package var answer: CommitResult
    /// The recipients that had no state before.
    package var begun: Set<Int64>

    package init(answer: CommitResult, begun: Set<Int64>) {
        self.answer = answer
        self.begun = begun
    }
}

/// A step of the walk over a shard.
package struct ShardStep: Hashable, Sendable {
    package var shard: Int64
    /// The cursor that the page began at.
    package var from: Int64
    package var cursor: Int64
    /// Whether the walk has reached the end of the shard.
    package var isLast: Bool
    /// Keeps the shard until then; `nil` gives it back.
    package var leaseUntil: Timestamp?
    /// The shard's next page comes no sooner.
    package var notBefore: Timestamp?

    package init(
        _ claim: ShardClaim,
        cursor: Int64,
        isLast: Bool,
        leaseUntil: Timestamp?,
        notBefore: Timestamp? = nil
    ) {
        self.shard = claim.shard
        self.from = claim.cursor
        self.cursor = cursor
        self.isLast = isLast
        self.leaseUntil = leaseUntil
        self.notBefore = notBefore
    }
}

/// What was done to a token, and why.
package struct TokenEventRecord: Hashable, Sendable {
    package enum Action: String, Hashable, Sendable, CaseIterable {
        /// A registration brought an inactive token back.
        case reactivated
        /// The installation has another token now.
        case replaced
        case deactivated
        /// It would have been deactivated, had not too many been at once.
        case withheld
        /// It was withheld, and an operator has decided since.
        case settled
        /// A registration came after the moment from which the push service calls it dead.
        case keptAlive
        case suspected
        /// To the other environment.
        case moved
        case deleted
    }

    package var id: Int64
    package var app: Int64
    package var device: Int64
    package var token: DeviceToken
    package var environment: PushEnvironment
    package var action: Action
    package var reason: String?
    /// That brought it to light.
    package var notification: UUID?
    package var at: Timestamp

    package init(
        id: Int64,
        app: Int64,
        device: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        action: Action,
        reason: String?,
        notification: UUID?,
        at: Timestamp
    ) {
        self.id = id
        self.app = app
        self.device = device
        self.token = token
        self.environment = environment
        self.action = action
        self.reason = reason
        self.notification = notification
        self.at = at
    }
}
