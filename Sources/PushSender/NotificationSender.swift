package import PushTypes

/// Sends notifications to a push service, with one environment and one credential behind it.
///
/// This is the joint between the provider and whatever speaks to the push service. It never throws: every way to fail
/// is an ``Outcome``.
package protocol NotificationSender: Sendable {
    /// Returns when the push service has answered, or when no answer can come any more (deadline inside).
    func send(_ notification: PushNotification, to token: DeviceToken) async -> Outcome
    /// Many at once; the outcomes in the same order.
    func send(_ pushes: [Push]) async -> [Outcome]
}
