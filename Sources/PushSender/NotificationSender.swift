package import PushTypes

/// Sends notifications to one push service with one credential.
///
/// The provider's dispatcher sees the push service through this protocol only. It never throws: every failure is an
/// ``Outcome``.
package protocol NotificationSender: Sendable {
    /// Sends many pushes and returns their outcomes in the same order.
    func send(_ pushes: [Push]) async -> [Outcome]
    /// Sends many pushes and returns their outcomes with their trips.
    func follow(_ pushes: [Push]) async -> SentPushes
    /// Sends many pushes that can be taken back, and returns their outcomes with their trips.
    /// - Parameter began: Receives the call once its pushes may be sent.
    func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes
}

extension NotificationSender {
    package func follow(_ pushes: [Push]) async -> SentPushes { SentPushes(outcomes: await self.send(pushes)) }

    /// Sends many pushes of which none is taken back: `began` receives nothing.
    package func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
        await self.follow(pushes)
    }
}
