package import PushProtocol

/// One token that a notification is to be sent to.
package struct Recipient: Hashable, Sendable {
    /// Unique within the notification: a device's id, or below zero for a token that was named explicitly.
    package var id: Int64
    /// `nil` if the token is not registered.
    package var device: Int64?
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// When the device registered last; `nil` if it never did.
    package var registeredAt: Timestamp?
    /// Earlier tries.
    package var attempts: Int

    package init(
        id: Int64,
        device: Int64?,
        token: DeviceToken,
        environment: PushEnvironment,
        registeredAt: Timestamp?,
        attempts: Int = 0
    ) {
        self.id = id
        self.device = device
        self.token = token
        self.environment = environment
        self.registeredAt = registeredAt
        self.attempts = attempts
    }
}

/// Some of a notification's recipients, in the order of the walk.
package struct RecipientPage: Hashable, Sendable {
    package var recipients: [Recipient]
    /// The notification's cursor once these have been tried.
    package var cursor: Int64
    /// Whether the audience ends here.
    package var isLast: Bool

    package init(recipients: [Recipient], cursor: Int64, isLast: Bool) {
        self.recipients = recipients
        self.cursor = cursor
        self.isLast = isLast
    }
}

/// The one final state of a recipient.
package struct DeliveryRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        /// The push service took it.
        case accepted
        /// The push service refused it.
        case rejected
        /// It could not be sent in time, or in the number of tries allowed.
        case failed
    }

    package var recipient: Recipient
    package var state: State
    package var apnsID: String
    /// The push service's reason, or our own words.
    package var reason: String?
    package var attempts: Int
    package var at: Timestamp

    package init(
        recipient: Recipient,
        state: State,
        apnsID: String,
        reason: String?,
        attempts: Int,
        at: Timestamp
    ) {
        self.recipient = recipient
        self.state = state
        self.apnsID = apnsID
        self.reason = reason
        self.attempts = attempts
        self.at = at
    }
}

/// A recipient that is tried again later.
package struct RetryRecord: Hashable, Sendable {
    package var recipient: Recipient
    package var dueAt: Timestamp

    package init(recipient: Recipient, dueAt: Timestamp) {
        self.recipient = recipient
        self.dueAt = dueAt
    }
}

/// What an answer says about a device's token.
package struct TokenFinding: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        case good
        /// Dead, unless the device registered at this moment or later (reference 7.7).
        case dead(since: Timestamp)
        /// Dead, or the environment or topic is wrong.
        case suspect
    }

    package var device: Int64
    package var verdict: Verdict

    package init(device: Int64, verdict: Verdict) {
        self.device = device
        self.verdict = verdict
    }
}

/// Everything that one page of recipients came to; committed in one transaction.
package struct PageResult: Hashable, Sendable {
    package var deliveries: [DeliveryRecord] = []
    package var retries: [RetryRecord] = []
    package var findings: [TokenFinding] = []
    /// Where the walk over the audience stands now; `nil` for a page of retries.
    package var cursor: Int64?
    /// Whether the walk has reached the end of the audience.
    package var isLast = false

    package init() {}
}
