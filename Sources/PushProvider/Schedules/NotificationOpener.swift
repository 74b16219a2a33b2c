import PushStore
import PushSupport

/// Opens scheduled notifications: splits them into shards, so that the dispatcher can claim them.
struct NotificationOpener: Sendable {
    let planner: NotificationPlanner
    private let store: any ProviderStore
    private let wakes: LaneWakeSignals
    private let budget: Duration
    private let time: any TimeSource

    /// - Parameters:
    ///   - budget: The time that counting the recipients may take. A notification that takes longer is paused. Default 30 s.
    ///   - countDevices: Counts the devices of an audience; `nil` asks the store.
    init(
        store: any ProviderStore,
        wakes: LaneWakeSignals,
        budget: Duration = .seconds(30),
        time: any TimeSource,
        countDevices: NotificationPlanner.CountDevices? = nil
    ) {
        self.planner = NotificationPlanner(store: store, time: time, countDevices: countDevices)
        (self.store, self.wakes, self.budget, self.time) = (store, wakes, budget, time)
    }

    /// Opens a notification that is due, or pauses one that can never be opened: it would block all others.
    /// - Returns: `true` if it was opened.
    func openDue(_ notification: NotificationRecord) async throws -> Bool {
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
        guard let plan = try await self.planner.plan(notification, within: self.budget)
        else { throw StoreError.queryTooExpensive(budget: self.budget) }
        try await self.store.open(
            notification.id,
            shards: plan.recipients == 0 ? [] : plan.shards,
            recipients: plan.recipients,
            now: self.time.recorded
        )
        self.wakes[notification.lane].signal()
    }

    /// Returns `true` for an error that every further try of this notification would meet.
    private static func isPermanent(_ error: any Error) -> Bool {
        if case StoreError.queryTooExpensive = error { return true }
        return !(error is StoreError)
    }
}
