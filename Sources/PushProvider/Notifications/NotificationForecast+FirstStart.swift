package import PushStore
import PushSupport
package import PushTypes

extension NotificationForecast {
    /// Returns the start in the first time zone of the app's devices, for a scheduled notification that each zone gets at
    /// a local time. It is opened before, because devices may come from zones further east.
    ///
    /// - Returns: `nil` for any other notification, and if the zones take longer than a second to read.
    package static func firstStart(
        of notification: NotificationRecord,
        in store: any AppStore & DeviceStore
    ) async throws -> Timestamp? {
        guard notification.state == .scheduled, let delivery = notification.delivery, !delivery.isSameEverywhere,
            case .local = delivery.beginning
        else { return nil }
        let starts = try await store.countingQuickly(app: notification.app, within: .seconds(1)) {
            try await NotificationPlanner.shards(of: notification, in: store).map(\.notBefore)
        }
        return starts?.min()
    }
}
