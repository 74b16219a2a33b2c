package import Foundation
package import PushTypes

/// A notification in the ledger: what to send, to whom, when, and how far it has got.
package struct NotificationRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// On disk; its time has not come.
        case scheduled
        /// On disk and due, nothing sent yet.
        case accepted
        /// Some of its recipients have been tried.
        case sending
        /// Stopped until somebody resumes it.
        case paused
        /// Stopped for good.
        case cancelled
        /// Every recipient has a final state.
        case done
    }

    /// What a crash may cost.
    package enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// Recipients of the pages in flight may get it twice, with the same `apns-id`.
        case atLeastOnce
        /// They may not get it at all.
        case atMostOnce
    }

    /// Who waits for whom: neither lane for the other.
    package enum Lane: Int64, Hashable, Sendable, CaseIterable {
        /// To named tokens or one user, or marked so by the caller.
        case urgent = 0
        case bulk = 1
    }

    package var id: UUID
    package var app: Int64
    package var content: NotificationContent
    package var audience: Audience
    /// `nil` means the devices of both.
    package var environment: PushEnvironment?
    package var guarantee: Guarantee
    package var lane: Lane
    /// When to send, in the provider's own JSON; `nil` is at once.
    package var delivery: Data?
    /// How fast to send, in the provider's own JSON; `nil` is as fast as possible.
    package var pace: Data?
    package var createdAt: Timestamp
    /// When it is to be opened.
    package var startsAt: Timestamp
    package var state: State
    /// The schedule and the run that made it.
    package var run: ScheduleRun?
    package var progress = NotificationProgress()

    package init(
        id: UUID,
        app: Int64,
        content: NotificationContent,
        audience: Audience,
        environment: PushEnvironment? = nil,
        guarantee: Guarantee = .atLeastOnce,
        lane: Lane = .bulk,
        delivery: Data? = nil,
        pace: Data? = nil,
        createdAt: Timestamp,
        startsAt: Timestamp? = nil,
        state: State = .accepted
    ) {
        self.id = id
        self.app = app
        self.content = content
        self.audience = audience
        self.environment = environment
        self.guarantee = guarantee
        self.lane = lane
        self.delivery = delivery
        self.pace = pace
        self.createdAt = createdAt
        self.startsAt = startsAt ?? createdAt
        self.state = state
    }
}

/// One run of a recurring schedule.
package struct ScheduleRun: Hashable, Sendable {
    package var schedule: UUID
    package var at: Timestamp

    package init(schedule: UUID, at: Timestamp) {
        self.schedule = schedule
        self.at = at
    }
}

/// How far a notification has got.
package struct NotificationProgress: Hashable, Sendable {
    /// The number of recipients: counted when it was opened, and the sum of all final states once it is done.
    package var recipients = 0
    package var accepted = 0
    package var rejected = 0
    package var failed = 0
    package var skipped = 0
    /// Recipients that wait for another try.
    package var retrying = 0
    /// The first page.
    package var startedAt: Timestamp?
    package var lastPageAt: Timestamp?
    package var finishedAt: Timestamp?
    /// Why it is paused, if not at somebody's request.
    package var pauseReason: String?
    /// The wave that is being sent, if it is sent in waves.
    package var wave = WaveProgress()

    package var finished: Int { self.accepted + self.rejected + self.failed + self.skipped }

    package init() {}
}

/// Where a notification that is sent in waves stands.
package struct WaveProgress: Hashable, Sendable {
    package var startedAt: Timestamp?
    package var sent: Int

    package init(startedAt: Timestamp? = nil, sent: Int = 0) {
        self.startedAt = startedAt
        self.sent = sent
    }
}

/// What the recipients of a notification get.
package struct NotificationContent: Hashable, Sendable {
    package var topic: Topic
    package var pushType: PushType
    package var priority: Priority
    package var expiration: Expiration
    package var collapseID: String?
    /// The payload in JSON; for a template, what the payload of each recipient is made from.
    package var payload: Data
    /// Whether recipients get different payloads.
    package var isTemplate: Bool

    package init(
        topic: Topic,
        pushType: PushType,
        priority: Priority,
        expiration: Expiration,
        collapseID: String?,
        payload: Data,
        isTemplate: Bool = false
    ) {
        self.topic = topic
        self.pushType = pushType
        self.priority = priority
        self.expiration = expiration
        self.collapseID = collapseID
        self.payload = payload
        self.isTemplate = isTemplate
    }
}

/// Makes a repeated request the same request.
package struct Idempotency: Hashable, Sendable {
    /// Chosen by the caller, unique per app.
    package var key: String
    /// SHA-256 of the request, to tell a repetition from a mistake.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) {
        self.key = key
        self.fingerprint = fingerprint
    }
}

/// What became of a request to accept a notification.
package enum Acceptance: Hashable, Sendable {
    case accepted
    /// The same request was accepted before, as this notification.
    case repeated(NotificationRecord)
    /// Another request used the same idempotency key.
    case conflict
    /// The schedule that it is a run of is gone, paused, or not the one any more that the run was decided from.
    case scheduleChanged
}
