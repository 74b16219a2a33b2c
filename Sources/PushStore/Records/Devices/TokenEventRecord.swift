package import Foundation
package import PushTypes

/// An entry in the history of a token.
package struct TokenEventRecord: Hashable, Sendable {
    /// The change of the token's state: by a response (``TokenStateChange``), by a registration or by an operator.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        /// A registration brought an inactive token back, or a person undid its deactivation.
        case reactivated
        /// The installation has another token now.
        case replaced
        case deactivated
        /// The circuit breaker was open: an operator decides.
        case withheld
        /// An operator has decided about a withheld deactivation.
        case settled
        /// The device stayed active: it registered after the time from which the push service calls the token invalid.
        case keptAlive
        case suspected
        /// The device belongs to the other environment now.
        case moved
        case deleted
    }

    package var id, app, device: Int64
    package var token: DeviceToken
    package var environment: PushEnvironment
    package var action: Action
    package var reason: String?
    /// The notification whose push led to the change.
    package var notification: UUID?
    package var at: Timestamp
}
