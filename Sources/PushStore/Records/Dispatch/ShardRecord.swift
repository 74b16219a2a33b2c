package import PushTypes

/// A part of a notification's audience that is sent independently.
package struct ShardPlan: Hashable, Sendable {
    /// The devices of a shard, by time zone.
    package enum Zone: Hashable, Sendable {
        case any
        case named(String)
        /// Devices without a time zone.
        case unknown
        /// Devices without a push of this notification once all other shards have ended: they moved between zones.
        case remainder
    }

    package var zone: Zone
    /// The earliest time of its first page, by the wall clock.
    package var notBefore: Timestamp

    package init(zone: Zone = .any, notBefore: Timestamp) { (self.zone, self.notBefore) = (zone, notBefore) }
}

extension Timestamp {
    /// A time that has come by any clock.
    package static let atOnce = Timestamp(milliseconds: 0)
}

/// A shard that the caller may send until its lease ends.
package struct ShardClaim: Hashable, Sendable {
    private let sharedNotification: SharedNotification
    package var notification: NotificationRecord { _read { yield self.sharedNotification.record } }
    /// The store's own number of the notification.
    package var notificationNumber: Int64
    package var shard: Int64
    package var zone: ShardPlan.Zone
    /// The last recipient that has been tried. Only the store knows its meaning.
    package var cursor: Int64
    /// The last recipient of the shard.
    package var end: Int64
    /// Indicates whether its recipients are few among many devices.
    package var isNarrow: Bool
    /// The fencing number of the lease.
    package var fence: Int64
    /// The registration clock at the opening of the notification.
    package var openedAfter: Int64 = 0
    /// The time from which the shard waits for its first page, by the wall clock; `nil` once it had one.
    package var waitsSince: Timestamp?
    /// The time of the claim, by the later clock.
    package var claimedAt: Timestamp?

    init(
        notification: SharedNotification,
        notificationNumber: Int64,
        shard: Int64,
        zone: ShardPlan.Zone,
        cursor: Int64,
        end: Int64,
        isNarrow: Bool,
        fence: Int64,
        openedAfter: Int64 = 0,
        waitsSince: Timestamp? = nil
    ) {
        (self.sharedNotification, self.notificationNumber) = (notification, notificationNumber)
        (self.shard, self.zone, self.cursor, self.end) = (shard, zone, cursor, end)
        (self.isNarrow, self.fence) = (isNarrow, fence)
        (self.openedAfter, self.waitsSince) = (openedAfter, waitsSince)
    }
}

/// One token that a notification is to be sent to.
package struct Recipient: Hashable, Sendable {
    /// Unique within the notification: a device's id, or below zero for a token that was named explicitly.
    package var id: Int64
    /// The device; `nil` if the token is not registered.
    package var device: Int64?
    package var token: DeviceToken
    package var environment: PushEnvironment
    /// The time of the device's latest registration; `nil` if it never registered.
    package var registeredAt: Timestamp?
    /// Indicates whether the push service called the token bad before.
    package var isSuspected = false
    /// The environment of a token that is tried in the other one (see ``TokenStateChange/Kind/moved(to:)``).
    package var movedFrom: PushEnvironment?
    /// The number of earlier tries.
    package var attempts: Int
    /// Indicates whether the response to an earlier try was lost.
    package var mayHaveArrived = false
    /// `nil` unless something of it was asked for.
    package var profile: RecipientProfile?
    /// `nil` unless the notification depends on it.
    package var consent: RecipientConsent?

    package init(
        id: Int64,
        device: Int64?,
        token: DeviceToken,
        environment: PushEnvironment,
        registeredAt: Timestamp? = nil,
        attempts: Int = 0
    ) {
        (self.id, self.device, self.token) = (id, device, token)
        (self.environment, self.registeredAt, self.attempts) = (environment, registeredAt, attempts)
    }
}

/// A page of a shard's recipients, in their order.
package struct RecipientPage: Hashable, Sendable {
    package var recipients: [Recipient]
    /// Recipients that are not sent to: their devices cannot be read, or their tokens are of another kind.
    package var ended: [EndedRetry] = []
    /// The ids of recipients that wait until all shards have been read: their device has left, or its token may have
    /// had the notification by another registration.
    package var held: [Int64] = []
    /// The shard's cursor once these have been tried.
    package var cursor: Int64
    /// Indicates whether the shard ends here.
    package var isLast: Bool
    /// The registration clock when the page was read.
    package var readAt: Int64 = 0
}
