package import Foundation
package import PushTypes

/// A selection of deactivations of tokens, to be undone.
package struct DeactivationFilter: Hashable, Sendable {
    /// The time of the first deactivation, and the time before which the last one was.
    package var from, to: Timestamp
    /// The reason that the push service gave; `nil` for any.
    package var reason: String?
    /// The environment; `nil` for both.
    package var environment: PushEnvironment?
    /// The notification whose push led to the deactivation; `nil` for any.
    package var notification: UUID?

    package init(
        from: Timestamp,
        to: Timestamp,
        reason: String? = nil,
        environment: PushEnvironment? = nil,
        notification: UUID? = nil
    ) {
        (self.from, self.to, self.reason) = (from, to, reason)
        (self.environment, self.notification) = (environment, notification)
    }
}

/// The result of undoing deactivations.
package struct Reactivation: Hashable, Sendable {
    /// The devices that are active again.
    package var devices: Int
    /// `false` if the limit was reached before the end: the same call continues.
    package var isComplete: Bool

    package init(devices: Int, isComplete: Bool) { (self.devices, self.isComplete) = (devices, isComplete) }
}
