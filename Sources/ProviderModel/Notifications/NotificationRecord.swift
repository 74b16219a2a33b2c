package import Foundation
package import PushTypes

/// A notification in the ledger: content, audience, options, and progress.
package struct NotificationRecord: Hashable, Sendable {
    /// The state of the notification.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It is stored, and its time has not come.
        case scheduled
        /// It is stored and due, and nothing has been sent.
        case accepted
        /// Some of its recipients have been tried.
        case sending
        /// It is paused until a caller resumes it.
        case paused
        /// It was cancelled, and cannot be resumed.
        case cancelled
        /// Every recipient has a final state.
        case done
    }

    /// The guarantee for recipients whose page a crash interrupts.
    package enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// They may get the notification twice, with the same `apns-id`.
        case atLeastOnce
        /// They may not get the notification at all.
        case atMostOnce
    }

    /// The priority class in the dispatcher. Neither lane waits for the other.
    package enum Lane: Int64, Hashable, Sendable, CaseIterable {
        /// The lane of notifications to named tokens or a single user, and of those that the caller marks as urgent.
        case urgent = 0
        case bulk = 1
    }

    package var id: UUID
    package var app: Int64
    /// The name that the caller gave the notification.
    package var name: String?
    package var content: NotificationContent
    package var audience: Audience
    /// The positions, from 1, of named tokens that were erased with their user. The other tokens keep their positions.
    package var erasedPositions: Set<Int64> = []
    /// The environment; `nil` for the devices of both.
    package var environment: PushEnvironment?
    package var guarantee: Guarantee
    package var lane: Lane
    /// The delivery time; `nil` for at once, at any hour.
    package var delivery: DeliveryTime?
    /// The pace; `nil` for as fast as possible.
    package var pace: PaceSettings?
    package var consent = ConsentRules()
    package var createdAt: Timestamp
    /// The time at which the notification is to be opened.
    package var startsAt: Timestamp
    package var state: State
    /// The schedule and the run that made it.
    package var run: ScheduleRun?
    /// The API key of the request, or of the schedule's; `nil` if it is not known.
    package var key: KeyReference?
    /// The notification whose failed recipients are the audience of this one.
    package var resendOf: UUID?
    /// The details of its acceptance, which are written but not read with the record.
    package var acceptance = AcceptanceRecord()
    /// `true` once some of its deliveries have been deleted for their age.
    package var isForgotten = false
    package var progress = NotificationProgress()

    package init(
        id: UUID,
        app: Int64,
        content: NotificationContent,
        audience: Audience,
        environment: PushEnvironment? = nil,
        guarantee: Guarantee = .atLeastOnce,
        lane: Lane = .bulk,
        delivery: DeliveryTime? = nil,
        pace: PaceSettings? = nil,
        createdAt: Timestamp,
        startsAt: Timestamp? = nil,
        state: State = .accepted
    ) {
        (self.id, self.app, self.content, self.audience) = (id, app, content, audience)
        (self.environment, self.guarantee, self.lane, self.delivery) = (environment, guarantee, lane, delivery)
        (self.pace, self.createdAt) = (pace, createdAt)
        self.startsAt = startsAt ?? createdAt
        self.state = state
    }

    /// The named tokens, each with the id of its recipient, which is the negative position.
    package var namedRecipients: [(id: Int64, token: DeviceToken)] {
        guard case .tokens(let tokens) = self.audience else { return [] }
        let positions = (Int64(1)...).lazy.filter { !self.erasedPositions.contains($0) }
        return zip(positions, tokens).map { (-$0, $1) }
    }
}

/// One run of a recurring schedule, identified by its time.
package struct ScheduleRun: Hashable, Sendable {
    package var schedule: UUID
    package var at: Timestamp

    package init(schedule: UUID, at: Timestamp) { (self.schedule, self.at) = (schedule, at) }
}

/// The progress of a notification.
package struct NotificationProgress: Hashable, Sendable {
    /// The number of recipients: as counted at the opening, and the sum of all final states once the notification is done.
    package var recipients = 0
    package var accepted = 0, rejected = 0, failed = 0, skipped = 0, unknown = 0
    /// The number of recipients that wait for another try.
    package var retrying = 0
    /// The time of the first page; `nil` before it.
    package var startedAt: Timestamp?
    package var lastPageAt, finishedAt: Timestamp?
    /// The reason for which the provider paused the notification; `nil` if a caller did.
    package var pauseReason: String?
    /// The current wave of a notification that is sent in waves.
    package var wave = WaveProgress()
    /// The remaining work of a notification in progress.
    package var ahead = RemainingWork()

    package var finished: Int { self.accepted + self.rejected + self.failed + self.skipped + self.unknown }

    package init() {}
}

/// The progress of the current wave of a notification.
package struct WaveProgress: Hashable, Sendable {
    package var startedAt: Timestamp?
    package var sent: Int

    package init(startedAt: Timestamp? = nil, sent: Int = 0) { (self.startedAt, self.sent) = (startedAt, sent) }
}

/// The identity of a request, by which a repetition is recognized.
package struct Idempotency: Hashable, Sendable {
    /// The key that the caller chose, unique per app.
    package var key: String
    /// The SHA-256 of the request. The same key with another one is an error.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) { (self.key, self.fingerprint) = (key, fingerprint) }
}

/// The result of a request to accept a notification.
package enum Acceptance: Hashable, Sendable {
    case accepted
    /// The same request was accepted before, as this notification. The case is indirect so that the others stay small.
    indirect case repeated(NotificationRecord)
    /// Another request used the same idempotency key.
    case conflict
    /// A named token is registered with another kind than that of the notification.
    case tokenOfOtherKind(DeviceToken, DeviceTokenKind)
    /// A named token is invalid, and ``AcceptanceRecord/tokensSince`` excludes such tokens.
    case inactiveToken(DeviceToken)
    /// The deliveries of the notification that it resends are being deleted.
    case originalForgotten
    /// The schedule of the run was deleted, paused or changed after the run was decided.
    case scheduleChanged
    /// The issue of the notification is not published any more.
    case issueWithdrawn
    /// The chat session of the notification was removed, for example with its user.
    case sessionRemoved
}

/// The details of a notification's acceptance that are kept.
package struct AcceptanceRecord: Hashable, Sendable {
    /// The time at which the request had arrived completely.
    package var receivedAt: Timestamp?
    /// The time that reading and checking the request took, in microseconds.
    package var checkedIn: Int64?
    /// The warnings about members that were accepted, but are probably a mistake.
    package var warnings: [String]
    /// The bridge whose request it was; `nil` for a request of the API.
    package var origin: NotificationOrigin?
    /// The time since which the caller has had the named tokens. A token that is known to have become invalid since then is
    /// not accepted (``Acceptance/inactiveToken(_:)``). `nil` accepts all tokens. It is not stored.
    package var tokensSince: Timestamp?

    package init(
        receivedAt: Timestamp? = nil,
        checkedIn: Int64? = nil,
        warnings: [String] = [],
        origin: NotificationOrigin? = nil,
        tokensSince: Timestamp? = nil
    ) {
        (self.receivedAt, self.checkedIn, self.warnings, self.origin) = (receivedAt, checkedIn, warnings, origin)
        self.tokensSince = tokensSince
    }
}

/// The remaining work of a notification in progress, as far as the store knows it.
package struct RemainingWork: Hashable, Sendable {
    /// The number of shards that have not been read to their end.
    package var shards = 0
    /// Indicates whether a page is in flight.
    package var isInFlight = false
    /// The earliest and the latest time at which one of these shards may be sent, by the wall clock.
    package var firstShardAt, lastShardAt: Timestamp?
    /// Indicates whether nothing of the earliest shard has been sent.
    package var isFirstShardUnread = false
    /// The time zone of the shard that comes last; `nil` if it has no named zone.
    package var lastZone: String?
    /// The time before which no further page is sent, by the steady clock.
    package var nextPageAt: Timestamp?
    /// The time of the next retry, by the steady clock.
    package var retryAt: Timestamp?

    package init() {}
}

/// A notification and its counts, read in one snapshot.
package struct NotificationDetail: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The numbers of skipped recipients for each reason, as ``NotificationStore/skipCounts(of:)``.
    package var skipCounts: [SkipCount] = []
    /// The numbers of receipts, as ``ReceiptStore/receiptCounts(of:)``; empty for a notification without receipts.
    package var receiptCounts: [ReceiptCount] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

/// A notification with few recipients and the states of these, read in one snapshot.
package struct NotificationOutcomes: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The states of the recipients that have one.
    package var deliveries: [DeliveryRecord] = []
    /// The devices of the audience while it is in progress; empty for other audiences.
    package var devices: [DeviceRecord] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

extension NotificationRecord {
    /// Indicates whether all recipients have their final states.
    package var hasEnded: Bool { self.state == .done || self.state == .cancelled && self.progress.retrying == 0 }
}

/// The conditions on the notifications of a list. All of them must hold.
package struct NotificationFilter: Hashable, Sendable {
    /// The apps of the notifications.
    package var apps: [Int64]
    package var state: NotificationRecord.State?
    /// The whole name.
    package var name: String?
    /// A part of the name, regardless of the case of ASCII letters.
    package var nameContains: String?
    /// The API key or the person that sent it, by the id.
    package var key: UUID?
    package var lane: NotificationRecord.Lane?
    package var pushType: PushType?
    /// The schedule that made it.
    package var schedule: UUID?
    /// The range of times of acceptance; its end is exclusive.
    package var from, to: Timestamp?

    package init(apps: [Int64]) { self.apps = apps }
}

/// The order of a list of notifications. Each order has an index.
package enum NotificationSort: String, Hashable, Sendable, CaseIterable {
    case newest
    /// By the bytes of the name. Notifications without a name are left out.
    case name
    /// By the number of recipients, largest first. Notifications with a single recipient are left out.
    case recipients
    /// By the state in the order of ``states``, and within a state newest first.
    case state

    /// The order of the states.
    package static let states: [NotificationRecord.State] = [
        .sending, .accepted, .paused, .scheduled, .cancelled, .done,
    ]
}
