package import PushTypes

/// Everything that is stored about a delivery, besides the notification.
package struct DeliveryHistory: Hashable, Sendable {
    package var beginning: NotificationBeginning
    /// The delivery; `nil` while the recipient has no state.
    package var delivery: DeliveryRecord?
    package var connection: OpenedConnection?
    /// The time from the sending of the page to the outcome; `nil` if it is not known.
    package var milliseconds: Int?
    package var page: PageRecord?
    package var attempts: [AttemptRecord]
    /// The time of the next try, by the steady clock; `nil` if there is none.
    package var nextTryAt: Timestamp?
    /// The paused environments that hold the next try; `nil` if none does.
    package var heldFor: HoldingEnvironments?
    package var events: PageEvents?
    /// The changes of the token's state that the notification led to, the oldest first.
    package var tokenEvents: [TokenEventRecord] = []
}
