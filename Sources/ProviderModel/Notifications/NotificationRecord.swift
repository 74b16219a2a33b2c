package import Foundation
package import PushTypes

/// A notification in the ledger: content, audience, options, and progress.
package struct NotificationRecord: Hashable, Sendable {
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// The state of a notification whose start time has not been reached.
        case scheduled
        /// The state of a notification whose start time has been reached, while nothing has been sent.
        case accepted
        /// The state of a notification that is being sent: some recipients may not have a final state yet.
        case sending
        /// The state of a notification that is paused until a caller resumes it.
        case paused
        /// The state of a notification that was cancelled, and cannot be resumed.
        case cancelled
        /// The state of a notification whose recipients all have a final state.
        case done
    }

    /// The delivery guarantee, which applies to the page of recipients whose sending a crash interrupts.
    package enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// The guarantee that the page is sent again after a crash. A recipient may get the same `apns-id` twice.
        case atLeastOnce
        /// The guarantee that the page is not sent again after a crash. Some recipients may never get the notification.
        case atMostOnce
    }

    /// The priority class in the dispatcher. Neither lane waits for the other.
    package enum Lane: Int64, Hashable, Sendable, CaseIterable {
        /// The lane of notifications to given tokens or a single user, and of those that the caller marks as urgent.
        case urgent = 0
        case bulk = 1
    }

    package var id: UUID
    package var app: Int64
    /// The name that the caller gave the notification, or `nil` for none.
    package var name: String?
    package var content: NotificationContent
    package var audience: Audience
    /// The positions, from 1, of the request's tokens that were erased with their user. The others keep theirs.
    package var erasedPositions: Set<Int64> = []
    /// The environment of the devices, or `nil` for both environments.
    package var environment: PushEnvironment?
    package var guarantee: Guarantee
    package var lane: Lane
    /// The delivery time, or `nil` to begin immediately and send at any hour.
    package var delivery: DeliveryTime?
    /// The pace of sending, or `nil` to send as fast as possible.
    package var pace: PaceSettings?
    package var consent = ConsentRules()
    package var createdAt: Timestamp
    /// The earliest time at which sending to any recipient may begin.
    package var startsAt: Timestamp
    package var state: State
    /// The run of a schedule that created the notification, or `nil` for other notifications.
    package var run: ScheduleRun?
    /// The API key of the request that created the notification or its schedule, or `nil` if it is not known.
    package var key: KeyReference?
    /// The notification whose failed recipients are the audience of this one, or `nil` if this is not a resend.
    package var resendOf: UUID?
    /// The details of the notification's acceptance, which are written but not read with the record.
    package var acceptance = AcceptanceRecord()
    /// A Boolean value that indicates whether some deliveries of the notification have been deleted for their age.
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

    /// The tokens of the request with the ids of their recipients, the negative positions. Other audiences have none.
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
    /// The number of recipients, counted when sending begins. In the end it is the sum of all final states.
    package var recipients = 0
    package var accepted = 0, rejected = 0, failed = 0, skipped = 0, unknown = 0
    /// The number of recipients that wait for another attempt.
    package var retrying = 0
    /// The time at which the first page was sent, or `nil` before that.
    package var startedAt: Timestamp?
    package var lastPageAt, finishedAt: Timestamp?
    /// The reason for which the provider paused the notification, or `nil` if a caller did.
    package var pauseReason: String?
    /// The current wave of a notification that is sent in waves.
    package var wave = WaveProgress()
    /// The remaining work of a notification in progress.
    package var ahead = RemainingWork()

    package var finished: Int { self.accepted + self.rejected + self.failed + self.skipped + self.unknown }

    package init() {}
}

package struct WaveProgress: Hashable, Sendable {
    package var startedAt: Timestamp?
    package var sent: Int

    package init(startedAt: Timestamp? = nil, sent: Int = 0) { (self.startedAt, self.sent) = (startedAt, sent) }
}

/// The identity of a request, by which a repetition of it is recognized and accepted only once.
package struct Idempotency: Hashable, Sendable {
    /// The idempotency key that the caller chose, unique per app.
    package var key: String
    /// The SHA-256 of the request. A request with the same key and another hash is an error.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) { (self.key, self.fingerprint) = (key, fingerprint) }
}

/// The result of a request to accept a notification.
package enum Acceptance: Hashable, Sendable {
    case accepted
    /// A result for a request that was accepted before, as this notification. It is indirect to keep the enum small.
    indirect case repeated(NotificationRecord)
    /// A refusal because another request used the same idempotency key.
    case conflict
    /// A refusal because this token is registered with this kind, and not that of the notification.
    case tokenOfOtherKind(DeviceToken, DeviceTokenKind)
    /// A refusal because this token is invalid, and ``AcceptanceRecord/tokensSince`` excludes such tokens.
    case inactiveToken(DeviceToken)
    /// A refusal because the deliveries of the original notification are being deleted for their age.
    case originalForgotten
    /// A refusal because the schedule of the run was deleted, paused or changed in the meantime.
    case scheduleChanged
    /// A refusal because the issue that the notification announces is not published any more.
    case issueWithdrawn
    /// A refusal because the chat session of the notification was removed, for example with its user.
    case sessionRemoved
}

/// The details of a notification's acceptance that are kept with it.
package struct AcceptanceRecord: Hashable, Sendable {
    /// The time at which the request had arrived completely, or `nil` if it is not known.
    package var receivedAt: Timestamp?
    /// The time that reading and checking the request took, in microseconds, or `nil` if it is not known.
    package var checkedIn: Int64?
    /// The warnings about members that were accepted, but are probably a mistake.
    package var warnings: [String]
    /// The bridge that translated the request, or `nil` for a request of the API.
    package var origin: NotificationOrigin?
    /// The time at which the caller got the named tokens, or `nil` to accept all tokens. A token that is known to have
    /// become invalid since then is not accepted (``Acceptance/inactiveToken(_:)``). It is not stored.
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
    /// The number of shards, the parts of the audience, that have not been read to their end.
    package var shards = 0
    /// A Boolean value that indicates whether a page of pushes is being sent.
    package var isInFlight = false
    /// The earliest and the latest time at which sending to one of the unread shards may begin, by the wall clock, or
    /// `nil` if all shards have been read.
    package var firstShardAt, lastShardAt: Timestamp?
    /// A Boolean value that indicates whether sending to the earliest shard has not begun.
    package var isFirstShardUnread = false
    /// The name of the time zone of the shard that is sent to last, or `nil` if it has none.
    package var lastZone: String?
    /// The time before which no further page is sent, by the steady clock, or `nil` if a page may be sent now.
    package var nextPageAt: Timestamp?
    /// The time of the next retry, by the steady clock, or `nil` if no recipient waits for one.
    package var retryAt: Timestamp?

    package init() {}
}

/// A notification and its counts, read in one snapshot.
package struct NotificationDetail: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The numbers of skipped recipients for each reason, as ``NotificationStore/skipCounts(of:)``.
    package var skipCounts: [SkipCount] = []
    /// The numbers of receipts, as ``ReceiptStore/receiptCounts(of:)``.
    package var receiptCounts: [ReceiptCount] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

/// A notification with few recipients and the recipients' states, read in one snapshot.
package struct NotificationOutcomes: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The deliveries of the recipients that have a state. A recipient without one has not been sent to.
    package var deliveries: [DeliveryRecord] = []
    /// The devices of an audience of devices, while the notification is in progress, or an empty list otherwise.
    package var devices: [DeviceRecord] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

extension NotificationRecord {
    /// A Boolean value that indicates whether all recipients have their final states.
    package var hasEnded: Bool { self.state == .done || self.state == .cancelled && self.progress.retrying == 0 }
}

/// The conditions on the notifications of a list. A notification must meet all of them, where `nil` accepts any value.
package struct NotificationFilter: Hashable, Sendable {
    /// The numbers of the apps whose notifications are listed. If there are none, nothing is listed.
    package var apps: [Int64]
    package var state: NotificationRecord.State?
    /// The exact name, or `nil` for any.
    package var name: String?
    /// A part of the name, regardless of the case of ASCII letters, or `nil` for any.
    package var nameContains: String?
    /// The id of the API key or the person that sent the notifications, or `nil` for any.
    package var key: UUID?
    package var lane: NotificationRecord.Lane?
    package var pushType: PushType?
    /// The schedule that created the notifications, or `nil` for any.
    package var schedule: UUID?
    /// The first and the exclusive last time of acceptance, or `nil` for no bound.
    package var from, to: Timestamp?

    package init(apps: [Int64]) { self.apps = apps }
}

/// The order of a list of notifications. Each order has an index.
package enum NotificationSort: String, Hashable, Sendable, CaseIterable {
    case newest
    /// The order by the bytes of the name. Notifications without a name are left out.
    case name
    /// The order by the number of recipients, largest first. Notifications with a single recipient are left out.
    case recipients
    /// The order by the state as in ``states``, and within a state newest first.
    case state

    /// The order of the states in a list that is sorted by state.
    package static let states: [NotificationRecord.State] = [
        .sending, .accepted, .paused, .scheduled, .cancelled, .done,
    ]
}
