package import Foundation
package import PushTypes

/// A notification in the ledger: content, audience, options, and progress.
package struct NotificationRecord: Hashable, Sendable {
    /// The state of the notification.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It is on disk, and its time has not come.
        case scheduled
        /// It is on disk and due, and nothing was sent yet.
        case accepted
        /// Some of its recipients have been tried.
        case sending
        /// It is stopped until a caller resumes it.
        case paused
        /// It is stopped for good.
        case cancelled
        /// Every recipient has a final state.
        case done
    }

    /// The guarantee for recipients whose page a crash interrupts.
    package enum Guarantee: String, Hashable, Sendable, CaseIterable {
        /// They may get it twice, with the same `apns-id`.
        case atLeastOnce
        /// They may not get it at all.
        case atMostOnce
    }

    /// The priority class in the dispatcher. Neither lane waits for the other.
    package enum Lane: Int64, Hashable, Sendable, CaseIterable {
        /// Notifications to named tokens or one user, or marked so by the caller.
        case urgent = 0
        case bulk = 1
    }

    package var id: UUID
    package var app: Int64
    /// The name that the caller gave it.
    package var name: String?
    package var content: NotificationContent
    package var audience: Audience
    /// The positions, from 1, of named tokens that are gone with an erased user. The other tokens keep theirs.
    package var erasedPositions: Set<Int64> = []
    /// The environment; `nil` means the devices of both.
    package var environment: PushEnvironment?
    package var guarantee: Guarantee
    package var lane: Lane
    /// The delivery time; `nil` is at once, at any hour.
    package var delivery: DeliveryTime?
    /// The pace; `nil` is as fast as possible.
    package var pace: PaceSettings?
    package var consent = ConsentRules()
    package var createdAt: Timestamp
    /// The time to open it.
    package var startsAt: Timestamp
    package var state: State
    /// The schedule and the run that made it.
    package var run: ScheduleRun?
    /// The API key of the request, or of the schedule's; `nil` if it is not known.
    package var key: KeyReference?
    /// The notification whose failed recipients this one is sent to.
    package var resendOf: UUID?
    /// The arrival and the check of its request, which are written and not read with the record.
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

    /// The tokens that it names, each with the id of its recipient: its position, below zero.
    package var namedRecipients: [(id: Int64, token: DeviceToken)] {
        guard case .tokens(let tokens) = self.audience else { return [] }
        let positions = (Int64(1)...).lazy.filter { !self.erasedPositions.contains($0) }
        return zip(positions, tokens).map { (-$0, $1) }
    }
}

/// A notification that several values refer to. Copying a record retains each of its parts.
final class SharedNotification: Hashable, Sendable {
    let record: NotificationRecord

    init(_ record: NotificationRecord) { self.record = record }

    static func == (left: SharedNotification, right: SharedNotification) -> Bool {
        left === right || left.record == right.record
    }

    func hash(into hasher: inout Hasher) { self.record.hash(into: &hasher) }
}

/// One run of a recurring schedule, identified by its time.
package struct ScheduleRun: Hashable, Sendable {
    package var schedule: UUID
    package var at: Timestamp

    package init(schedule: UUID, at: Timestamp) { (self.schedule, self.at) = (schedule, at) }
}

/// The progress of a notification.
package struct NotificationProgress: Hashable, Sendable {
    /// The number of recipients: counted when it was opened, and the sum of all final states once it is done.
    package var recipients = 0
    package var accepted = 0, rejected = 0, failed = 0, skipped = 0, unknown = 0
    /// Recipients that wait for another try.
    package var retrying = 0
    /// The time of the first page; `nil` before it.
    package var startedAt: Timestamp?
    package var lastPageAt, finishedAt: Timestamp?
    /// The reason for which the provider paused it; `nil` if a caller did.
    package var pauseReason: String?
    /// The current wave, if it is sent in waves.
    package var wave = WaveProgress()
    /// The work ahead of a notification in progress.
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
    /// The SHA-256 of the request, to distinguish a repetition from a mistake.
    package var fingerprint: [UInt8]

    package init(key: String, fingerprint: [UInt8]) { (self.key, self.fingerprint) = (key, fingerprint) }
}

/// The result of a request to accept a notification.
package enum Acceptance: Hashable, Sendable {
    case accepted
    /// The same request was accepted before, as this notification. Indirect, so that the other cases are small.
    indirect case repeated(NotificationRecord)
    /// Another request used the same idempotency key.
    case conflict
    /// A named token is registered with another kind than the notification goes to.
    case tokenOfOtherKind(DeviceToken, DeviceTokenKind)
    /// A named token is invalid, and ``AcceptanceRecord/tokensSince`` asks not to accept it then.
    case inactiveToken(DeviceToken)
    /// The deliveries of the notification that it repeats are being deleted.
    case originalForgotten
    /// The schedule of the run was deleted, paused or changed after the run was decided.
    case scheduleChanged
    /// The issue that it notifies of is not published any more.
    case issueWithdrawn
    /// The session at a chat server whose messages it tells of is gone, such as with its user.
    case sessionRemoved
}

/// The acceptance of a notification as it is remembered.
package struct AcceptanceRecord: Hashable, Sendable {
    /// The time at which the request had arrived.
    package var receivedAt: Timestamp?
    /// The time that reading and checking the request took, in microseconds.
    package var checkedIn: Int64?
    /// The members that were allowed and probably not intended.
    package var warnings: [String]
    /// The bridge whose request it was; `nil` for a request of the API.
    package var origin: NotificationOrigin?
    /// The time since which the caller has had the tokens that the notification names. One of them that is known to be invalid
    /// since is not accepted (``Acceptance/inactiveToken(_:)``). It is not stored. `nil` accepts all.
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

/// The work that remains of a notification in progress, as far as the store knows it.
package struct RemainingWork: Hashable, Sendable {
    /// The parts of the audience that have not been read to their end.
    package var shards = 0
    /// Indicates whether a page is in flight.
    package var isInFlight = false
    /// The earliest and the latest time at which one of these parts may be sent, by the wall clock.
    package var firstShardAt, lastShardAt: Timestamp?
    /// Indicates whether nothing of the earliest part was sent.
    package var isFirstShardUnread = false
    /// The time zone of the part that comes last; `nil` for others than a named one.
    package var lastZone: String?
    /// The time before which no further page is sent, by the steady clock.
    package var nextPageAt: Timestamp?
    /// The time of the next retry, by the steady clock.
    package var retryAt: Timestamp?

    package init() {}
}

/// A notification and the counts beside it, all of one moment.
package struct NotificationDetail: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The numbers of skipped recipients for each reason, as ``NotificationStore/skipCounts(of:)``.
    package var skipCounts: [SkipCount] = []
    /// The numbers of receipts, as ``ReceiptStore/receiptCounts(of:)``; empty if it asks for none.
    package var receiptCounts: [ReceiptCount] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

/// A notification with few recipients and the states of these, all of one moment.
package struct NotificationOutcomes: Hashable, Sendable {
    package var notification: NotificationRecord
    /// The states of the recipients that have one.
    package var deliveries: [DeliveryRecord] = []
    /// The devices of the audience while it is in progress; empty for other audiences.
    package var devices: [DeviceRecord] = []

    package init(_ notification: NotificationRecord) { self.notification = notification }
}

extension NotificationRecord {
    /// Indicates whether no recipient changes its state any more.
    package var hasEnded: Bool { self.state == .done || self.state == .cancelled && self.progress.retrying == 0 }
}

/// The conditions on the notifications of a list, all of which must hold.
package struct NotificationFilter: Hashable, Sendable {
    /// The apps of the notifications.
    package var apps: [Int64]
    package var state: NotificationRecord.State?
    /// The whole name.
    package var name: String?
    /// A part of the name, in any case of ASCII letters.
    package var nameContains: String?
    /// The API key or the person that sent it, by the id.
    package var key: UUID?
    package var lane: NotificationRecord.Lane?
    package var pushType: PushType?
    /// The schedule that made it.
    package var schedule: UUID?
    /// The range of times of acceptance, without its end.
    package var from, to: Timestamp?

    package init(apps: [Int64]) { self.apps = apps }
}

/// The orders in which notifications are listed. Each has an index.
package enum NotificationSort: String, Hashable, Sendable, CaseIterable {
    case newest
    /// Those with a name, by its bytes.
    case name
    /// Those with more than one recipient, the most recipients first.
    case recipients
    /// Those in progress first, see ``states``; the newest of a state first.
    case state

    /// The order of the states.
    static let states: [NotificationRecord.State] = [.sending, .accepted, .paused, .scheduled, .cancelled, .done]
}
