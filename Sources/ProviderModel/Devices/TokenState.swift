package import Foundation
package import PushTypes

/// The state of a token of an app in one environment, derived from its device and from pushes that named it.
package enum TokenState: Hashable, Sendable {
    /// The state of a token to which no push has a final state that tells whether the token is valid.
    case unknown
    /// The state of a token to which the push service accepted the newest push that has a final state.
    case reached
    /// The state of a token that the push service calls invalid for good.
    /// - Parameter at: The time of the response that said so, or `nil` for the token of an inactive device.
    case invalid(at: Timestamp?)

    /// Returns whether the token became invalid at `since`, when the caller got it, or later, or at an unknown time.
    package func isInvalid(since: Timestamp) -> Bool {
        guard case .invalid(let at) = self else { return false }
        return at.map { $0 >= since } ?? true
    }
}

/// A change of the state of a device's token.
///
/// The provider's token invalidation policy decides it from the response to a push, and the store applies it
/// (`TokenInvalidation`). Each change but ``Kind/confirmed`` is recorded as an event (``TokenEventRecord/Action``).
package struct TokenStateChange: Hashable, Sendable {
    /// The kind of a change to a token's state.
    package enum Kind: Hashable, Sendable {
        /// A change that clears the suspicion that the token is invalid, because a push to the token was accepted.
        case confirmed
        /// A change that makes the device inactive, unless it registered at the time `since` or later (reference 7.7).
        case deactivated(since: Timestamp)
        /// A change that only counts a suspicion and keeps the device active, because it is not proven whether the
        /// token, the environment or the topic is wrong.
        case suspected
        /// A deactivation that waits for an operator's decision, because too many other devices would be deactivated as
        /// well. `since` is the time from which the push service calls the token invalid.
        case withheld(since: Timestamp)
        /// A change that assigns the device to this environment, because its token works there and not in the one of
        /// its registration.
        case moved(to: PushEnvironment)
    }

    package var device: Int64
    package var kind: Kind
    /// The reason that the push service gave, or `nil` for none.
    package var reason: String?
    /// The token that was sent to or that a feedback list names, or `nil` if the time of the registration decides
    /// instead. A device that has another token by now does not change.
    package var token: DeviceToken?

    package init(device: Int64, kind: Kind, reason: String? = nil, token: DeviceToken? = nil) {
        (self.device, self.kind, self.reason, self.token) = (device, kind, reason, token)
    }
}

/// An entry in the history of a token.
package struct TokenEventRecord: Hashable, Sendable {
    /// The change of the token's state by a response (``TokenStateChange``), a registration or an operator.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        /// The event of a token that a registration reactivated, or whose deactivation an operator undid.
        case reactivated
        /// The event of a token that another token of the installation has replaced.
        case replaced
        case deactivated
        /// The event of a deactivation that the circuit breaker withheld, so that an operator decides about it.
        case withheld
        /// The event of an operator's decision about a withheld deactivation.
        case settled
        /// The event of a device that stayed active because it registered after its token was called invalid.
        case keptAlive
        case suspected
        /// The event of a token that was moved to the other environment.
        case moved
        case deleted
    }

    package var id, app, device: Int64
    package var token: DeviceToken
    package var environment: PushEnvironment
    package var action: Action
    package var reason: String?
    /// The notification whose push led to the change, or `nil` if another event did, such as a registration.
    package var notification: UUID?
    package var at: Timestamp

    package init(
        id: Int64,
        app: Int64,
        device: Int64,
        token: DeviceToken,
        environment: PushEnvironment,
        action: Action,
        reason: String? = nil,
        notification: UUID? = nil,
        at: Timestamp
    ) {
        (self.id, self.app, self.device, self.token, self.environment) = (id, app, device, token, environment)
        (self.action, self.reason, self.notification, self.at) = (action, reason, notification, at)
    }
}

/// The conditions on deactivations of tokens that are to be undone.
package struct DeactivationFilter: Hashable, Sendable {
    /// The first and the exclusive last time of the deactivations.
    package var from, to: Timestamp
    /// The reason that the push service gave, or `nil` for any.
    package var reason: String?
    /// The environment, or `nil` for both.
    package var environment: PushEnvironment?
    /// The notification whose push led to the deactivation, or `nil` for any.
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
    /// The number of devices that are active again.
    package var devices: Int
    /// A Boolean value that indicates whether all devices were processed within the limit. If not, repeat the call.
    package var isComplete: Bool

    package init(devices: Int, isComplete: Bool) { (self.devices, self.isComplete) = (devices, isComplete) }
}
