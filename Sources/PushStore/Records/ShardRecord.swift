package import PushTypes

/// A part of a notification's audience that is walked on its own.
package struct ShardPlan: Hashable, Sendable {
    /// Which devices it has, by time zone.
    package enum Zone: Hashable, Sendable {
        case any
        case named(String)
        /// Those that say none.
        case unknown
        /// Devices that have had no push of this notification yet: for devices that moved between zones meanwhile.
        case leftOver
    }

    package var zone: Zone
    /// Of the wall clock.
    package var notBefore: Timestamp

    package init(zone: Zone = .any, notBefore: Timestamp) {
        self.zone = zone
        self.notBefore = notBefore
    }
}

extension Timestamp {
    /// A moment that has come by any clock.
    package static let atOnce = Timestamp(milliseconds: 0)
}

/// A shard that the caller may send now, until the lease ends.
package struct ShardClaim: Hashable, Sendable {
    package var notification: NotificationRecord
    /// Of the notification, in the store's own numbering.
    package var notificationNumber: Int64
    package var shard: Int64
    package var zone: ShardPlan.Zone
    /// The last recipient that has been tried; its meaning belongs to the store.
    package var cursor: Int64
    /// The last recipient of the shard.
    package var end: Int64
    /// Whether its recipients are few among many devices.
    package var isNarrow: Bool
    /// The fencing number of the lease.
    package var fence: Int64
    /// The registration clock's number at the opening of the notification.
    package var openedAfter: Int64

    package init(
        notification: NotificationRecord,
        notificationNumber: Int64,
        shard: Int64,
        zone: ShardPlan.Zone,
        cursor: Int64,
        end: Int64,
        isNarrow: Bool,
        fence: Int64,
        openedAfter: Int64 = 0
    ) {
        self.notification = notification
        self.notificationNumber = notificationNumber
        self.shard = shard
        self.zone = zone
        self.cursor = cursor
        self.end = end
        self.isNarrow = isNarrow
        self.fence = fence
        self.openedAfter = openedAfter
    }
}

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
    /// Whether the push service called the token bad before.
    package var isSuspected = false
    /// The environment of a token that is tried in the other one (see ``TokenStateChange/Verdict/moved``).
    package var movedFrom: PushEnvironment?
    /// Earlier tries.
    package var attempts: Int
    /// `nil` unless something of it was asked for.
    package var profile: RecipientProfile?

    package init(
        id: Int64,
        device: Int64?,
        token: DeviceToken,
        environment: PushEnvironment,
        registeredAt: Timestamp? = nil,
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

/// Some of a shard's recipients, in the order of the walk.
package struct RecipientPage: Hashable, Sendable {
    package var recipients: [Recipient]
    /// Whose device cannot be read.
    package var unreadable: [EndedRetry]
    /// The ids of those of whom it is decided at the end of the walk: their device has left, or its token may have had the
    /// notification by another registration.
    package var held: [Int64]
    /// The shard's cursor once these have been tried.
    package var cursor: Int64
    /// Whether the shard ends here.
    package var isLast: Bool
    /// The registration clock's number when the page was read.
    package var readAt: Int64 = 0

    package init(
        recipients: [Recipient],
        unreadable: [EndedRetry] = [],
        held: [Int64] = [],
        cursor: Int64,
        isLast: Bool
    ) {
        self.recipients = recipients
        self.held = held
        self.unreadable = unreadable
        self.cursor = cursor
        self.isLast = isLast
    }
}

/// Recipients of one notification whose next try is due, leased to the caller.
package struct RetryClaim: Hashable, Sendable {
    package var notification: NotificationRecord
    package var notificationNumber: Int64
    package var recipients: [RetryRecipient]
    /// The fencing number of the lease.
    package var fence: Int64
    /// The registration clock's number when the recipients were read.
    package var readAt: Int64

    package init(
        notification: NotificationRecord,
        notificationNumber: Int64,
        recipients: [RetryRecipient],
        fence: Int64,
        readAt: Int64
    ) {
        self.fence = fence
        self.readAt = readAt
        self.notification = notification
        self.notificationNumber = notificationNumber
        self.recipients = recipients
    }
}

/// A recipient whose next try is due.
package enum RetryRecipient: Hashable, Sendable {
    case here(Recipient)
    /// There is no other try: its final state is all that is left to write.
    case over(EndedRetry)

    /// See ``Recipient/id``.
    package var id: Int64 {
        switch self {
        case .here(let recipient): recipient.id
        case .over(let retry): retry.id
        }
    }
}

/// A recipient that is not tried, or not again.
package struct EndedRetry: Hashable, Sendable {
    package enum Cause: String, Hashable, Sendable {
        case deviceRemoved = "the device was removed before it could be sent"
        case unreadable = "what is stored of its device cannot be read"
        case cancelled = "cancelled before it could be sent"
        case interrupted = "the server ended while this was being sent; at most once means not again"
        case hadAlready = "its token has had this by another registration"
        case leftAudience = "the device is not in the audience any more"
        case registeredElsewhere = "BadDeviceToken, and the token is registered in the other environment too"

        /// The final state of the recipient.
        package var state: DeliveryRecord.State {
            switch self {
            case .deviceRemoved, .hadAlready, .leftAudience: .skipped
            case .registeredElsewhere: .rejected
            case .unreadable, .cancelled, .interrupted: .failed
            }
        }
    }

    /// See ``Recipient/id``.
    package var id: Int64
    /// `nil` if it is not known any more.
    package var recipient: Recipient?
    package var attempts: Int
    package var cause: Cause

    package init(id: Int64, recipient: Recipient?, attempts: Int, cause: Cause) {
        self.id = id
        self.recipient = recipient
        self.attempts = attempts
        self.cause = cause
    }
}
