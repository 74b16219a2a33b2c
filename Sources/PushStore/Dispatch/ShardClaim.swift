package import ProviderModel
package import PushTypes

/// A part of a notification's audience that is sent independently.
package struct ShardPlan: Hashable, Sendable {
    /// The devices of a shard, by their time zone.
    package enum Zone: Hashable, Sendable {
        case any
        case named(String)
        /// Devices without a time zone.
        case unknown
        /// The devices that have no push of this notification after all other shards have ended, because they moved between
        /// zones.
        case remainder
    }

    package var zone: Zone
    /// The earliest time of the shard's first page, by the wall clock.
    package var notBefore: Timestamp

    package init(zone: Zone = .any, notBefore: Timestamp) { (self.zone, self.notBefore) = (zone, notBefore) }
}

extension Timestamp {
    /// A due time that has passed by any clock.
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
    /// The last recipient that has been processed. The meaning of the value is private to the store.
    package var cursor: Int64
    /// The last recipient of the shard, in the same form as ``cursor``.
    package var end: Int64
    /// Indicates whether few of the app's devices are recipients.
    package var isNarrow: Bool
    /// The fencing number of the lease.
    package var fence: Int64
    /// The reading of the registration clock at the opening of the notification.
    package var openedAfter: Int64 = 0
    /// The time since which the shard has waited for its first page, by the wall clock; `nil` after that page.
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

/// The conditions on shards and retries that may be claimed.
package struct ClaimFilter: Hashable, Sendable {
    /// The leases under which the caller works.
    package struct Held: Hashable, Sendable {
        /// The fencing numbers of the leases that the caller holds.
        package var fences: Set<Int64>
        /// The highest fencing number that the caller knows of. Claims with higher numbers may still be on their way to
        /// the caller.
        package var upTo: Int64

        package init(fences: Set<Int64>, upTo: Int64) { (self.fences, self.upTo) = (fences, upTo) }
    }

    /// The apps whose retries are not claimed.
    package var apps: Set<Int64>
    /// The targets whose shards are not claimed.
    package var targets: Set<DispatchTarget>
    /// The caller's leases. Any other lease of the caller is lost, because its claim never arrived or its page was
    /// never written. With `nil` a lease is lost only once it has expired.
    package var held: Held?

    package init(excluding apps: Set<Int64> = [], targets: Set<DispatchTarget> = [], held: Held? = nil) {
        (self.apps, self.targets, self.held) = (apps, targets, held)
    }
}

/// An app and an environment of the push service. Notifications to the same target share slots and back-off in the dispatcher.
package struct DispatchTarget: Hashable, Sendable {
    package var app: Int64
    /// The environment; `nil` for notifications that are sent in both.
    package var environment: PushEnvironment?
    /// `true` for notifications to browsers, which are sent over other push services.
    package var isWeb: Bool

    package init(app: Int64, environment: PushEnvironment?, isWeb: Bool = false) {
        (self.app, self.environment, self.isWeb) = (app, environment, isWeb)
    }

    /// Creates the target of a notification.
    package init(_ notification: NotificationRecord) {
        let isWeb = notification.content.tokenKind == .web
        self.init(app: notification.app, environment: notification.environment, isWeb: isWeb)
    }
}

/// A shared reference to a notification. It is cheaper to copy than a record, all of whose parts are retained.
final class SharedNotification: Hashable, Sendable {
    let record: NotificationRecord

    init(_ record: NotificationRecord) { self.record = record }

    static func == (left: SharedNotification, right: SharedNotification) -> Bool {
        left === right || left.record == right.record
    }

    func hash(into hasher: inout Hasher) { self.record.hash(into: &hasher) }
}
