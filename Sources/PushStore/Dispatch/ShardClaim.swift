package import ProviderModel
package import PushTypes

/// The plan for one shard, a section of a notification's audience that is sent independently of the other shards.
package struct ShardPlan: Hashable, Sendable {
    /// The time zone whose devices a shard contains.
    package enum Zone: Hashable, Sendable {
        case any
        case named(String)
        /// The zone of devices that have none.
        case unknown
        /// The zone of devices to which no other shard has been sent, because their time zone changed meanwhile. Its
        /// shard begins once all other shards of the notification have finished.
        case remainder
    }

    package var zone: Zone
    /// The earliest time of the shard's first page, by the wall clock.
    package var notBefore: Timestamp

    package init(zone: Zone = .any, notBefore: Timestamp) { (self.zone, self.notBefore) = (zone, notBefore) }
}

extension Timestamp {
    /// A due time in the past, which makes work due immediately.
    package static let atOnce = Timestamp(milliseconds: 0)
}

/// A shard that is leased to the caller, which may send it until the lease expires.
package struct ShardClaim: Hashable, Sendable {
    private let sharedNotification: SharedNotification
    package var notification: NotificationRecord { _read { yield self.sharedNotification.record } }
    /// The internal number by which the store identifies the notification.
    package var notificationNumber: Int64
    package var shard: Int64
    package var zone: ShardPlan.Zone
    /// The position of the last processed recipient in the shard. Its encoding is private to the store.
    package var cursor: Int64
    /// The position of the last recipient in the shard, in the encoding of ``cursor``.
    package var end: Int64
    /// A Boolean value that indicates whether an index finds the recipients faster than a scan of the app's devices.
    package var isNarrow: Bool
    /// The fencing number that identifies the lease.
    package var fence: Int64
    /// The value of the registration clock, a counter of device changes, when the notification was opened. Devices with
    /// higher values have changed since and are checked again.
    package var openedAfter: Int64 = 0
    /// The time at which the shard began to wait for its first page, by the wall clock, or `nil` for later pages.
    package var waitsSince: Timestamp?
    /// The time of the claim, by the later of the wall and steady clocks, or `nil` until the dispatcher sets it.
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

/// A filter that excludes shards and retries from a claim.
package struct ClaimFilter: Hashable, Sendable {
    /// The leases of which the caller knows.
    package struct Held: Hashable, Sendable {
        /// The fencing numbers of the leases that the caller holds.
        package var fences: Set<Int64>
        /// The highest fencing number known to the caller. A claim with a higher number may not have reached it yet.
        package var upTo: Int64

        package init(fences: Set<Int64>, upTo: Int64) { (self.fences, self.upTo) = (fences, upTo) }
    }

    /// The apps whose retries are excluded.
    package var apps: Set<Int64>
    /// The targets whose shards are excluded.
    package var targets: Set<DispatchTarget>
    /// The leases that the caller holds. Any other lease of the caller counts as lost, because the result of its claim
    /// never reached the caller, or its page was never written. With `nil`, a lease is lost only when it expires.
    package var held: Held?

    package init(excluding apps: Set<Int64> = [], targets: Set<DispatchTarget> = [], held: Held? = nil) {
        (self.apps, self.targets, self.held) = (apps, targets, held)
    }
}

/// An app in an environment of the push service. Its notifications share the dispatcher's permits and back-off.
package struct DispatchTarget: Hashable, Sendable {
    package var app: Int64
    /// The environment, or `nil` for notifications that are sent in both environments.
    package var environment: PushEnvironment?
    /// A Boolean value that indicates whether the target consists of browsers, which are reached over Web Push.
    package var isWeb: Bool

    package init(app: Int64, environment: PushEnvironment?, isWeb: Bool = false) {
        (self.app, self.environment, self.isWeb) = (app, environment, isWeb)
    }

    package init(_ notification: NotificationRecord) {
        let isWeb = notification.content.tokenKind == .web
        self.init(app: notification.app, environment: notification.environment, isWeb: isWeb)
    }
}

/// A shared reference to a notification. Copying the reference retains one object and copies no field of the record.
final class SharedNotification: Hashable, Sendable {
    let record: NotificationRecord

    init(_ record: NotificationRecord) { self.record = record }

    static func == (left: SharedNotification, right: SharedNotification) -> Bool {
        left === right || left.record == right.record
    }

    func hash(into hasher: inout Hasher) { self.record.hash(into: &hasher) }
}
