package import PushTypes

/// A selection among the shards and retries that are due.
package struct ClaimFilter: Hashable, Sendable {
    /// The leases that the caller works under.
    package struct Held: Hashable, Sendable {
        /// The fencing numbers of these leases.
        package var fences: Set<Int64>
        /// The highest fencing number that the caller knows of. Claims with later ones may still be on their way.
        package var upTo: Int64

        package init(fences: Set<Int64>, upTo: Int64) { (self.fences, self.upTo) = (fences, upTo) }
    }

    /// Apps whose retries are left out.
    package var apps: Set<Int64>
    /// Targets of notifications whose shards are left out.
    package var targets: Set<DispatchTarget>
    /// The caller's leases: any other lease of the caller is lost, because its claim never arrived or its page was
    /// never written. `nil` leaves the decision to the end of each lease.
    package var held: Held?

    package init(excluding apps: Set<Int64> = [], targets: Set<DispatchTarget> = [], held: Held? = nil) {
        (self.apps, self.targets, self.held) = (apps, targets, held)
    }
}

/// The push service as one app uses it. Notifications to the same target share slots and back-off in the dispatcher.
package struct DispatchTarget: Hashable, Sendable {
    package var app: Int64
    /// The environment; `nil` for notifications that go to both.
    package var environment: PushEnvironment?
    /// `true` for notifications to browsers, which other push services take.
    package var isWeb: Bool

    package init(app: Int64, environment: PushEnvironment?, isWeb: Bool = false) {
        (self.app, self.environment, self.isWeb) = (app, environment, isWeb)
    }

    /// Returns the target of a notification.
    package init(_ notification: NotificationRecord) {
        let isWeb = notification.content.tokenKind == .web
        self.init(app: notification.app, environment: notification.environment, isWeb: isWeb)
    }
}
