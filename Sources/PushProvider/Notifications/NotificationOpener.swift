import ProviderModel
import PushStore
import PushSupport

/// Opens scheduled notifications: splits them into shards, so that the dispatcher can claim them.
struct NotificationOpener: Sendable {
    let planner: NotificationPlanner
    private let store: any AppStore & DeviceStore & DispatchStore & NotificationStore
    private let wakes: LaneWakeSignals
    private let budget: Duration
    private let time: any TimeSource

    /// Creates an opener. `budget` is the maximum processor time for counting the recipients, 30 s by default. A
    /// notification that takes longer is paused. `countDevices` counts an audience, or is `nil` to query the store.
    init(
        store: any AppStore & DeviceStore & DispatchStore & NotificationStore,
        wakes: LaneWakeSignals,
        budget: Duration = .seconds(30),
        time: any TimeSource,
        countDevices: NotificationPlanner.CountDevices? = nil
    ) {
        self.planner = NotificationPlanner(store: store, time: time, countDevices: countDevices)
        (self.store, self.wakes, self.budget, self.time) = (store, wakes, budget, time)
    }

    /// Opens a notification that is due, or pauses it if it can never be opened, because it would block all others.
    ///
    /// The notification is read again before its recipients are counted, because it may have been cancelled, paused or
    /// changed since it was found due.
    /// - Returns: `true` if it was opened, and `false` if it was no longer scheduled, or was paused now.
    /// - Throws: `BudgetRefusal` while other recipients have to be counted first. A later call opens the notification.
    func openDue(_ found: NotificationRecord) async throws -> Bool {
        guard let notification = try await self.store.notification(found.id), notification.state == .scheduled else {
            return false
        }
        do {
            try await self.open(notification)
            return true
        } catch let error where Self.isPermanent(error) {
            let reason = "it cannot be opened: \(error)"
            _ = try await self.store.setState(.pause(reason: reason), of: notification.id, now: self.time.recorded)
            return false
        }
    }

    func open(_ notification: NotificationRecord) async throws {
        let plan = try await self.planner.plan(notification, within: self.budget)
        // Only an audience of devices is known to be empty: named tokens that were erased are skipped one by one.
        let isEmpty = if case .devices = notification.audience { plan.recipients == 0 } else { false }
        try await self.store.open(
            notification.id,
            shards: isEmpty ? [] : plan.shards,
            recipients: plan.recipients,
            now: self.time.recorded
        )
        self.wakes[notification.lane].signal()
    }

    /// Returns whether the error would recur in every further attempt to open this notification.
    private static func isPermanent(_ error: any Error) -> Bool {
        switch error {
        case StoreError.queryTooExpensive, StoreError.ownerRemoved: true
        // Other queries have to run first, or the process ends: neither is a fault of the notification.
        case is StoreError, is BudgetRefusal, is CancellationError: false
        default: true
        }
    }
}
