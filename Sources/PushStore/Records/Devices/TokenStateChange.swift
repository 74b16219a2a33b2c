package import PushTypes

/// A change of what is known of a device's token.
///
/// The provider's token invalidation policy decides it from the response to a push, and the store applies it
/// (`TokenInvalidation`). Each change but ``Kind/confirmed`` is recorded as an event (``TokenEventRecord/Action``).
package struct TokenStateChange: Hashable, Sendable {
    /// The change of the device or of what is recorded of it.
    package enum Kind: Hashable, Sendable {
        /// The token was suspected, and a push to it was accepted.
        case confirmed
        /// The device is inactive from now on, unless it registered at this time or later (reference 7.7).
        case deactivated(since: Timestamp)
        /// The token is invalid, or the environment or the topic is wrong: neither is proven.
        case suspected
        /// The device would be inactive, but too many others would be too: an operator decides.
        case withheld(since: Timestamp)
        /// The token works in this environment and not in its own.
        case moved(to: PushEnvironment)
    }

    package var device: Int64
    package var kind: Kind
    /// The reason that the push service gave.
    package var reason: String?
    /// The token that was sent to, or that a list names: a device that has another one since is left as it is. `nil` if the
    /// time of the registration decides.
    package var token: DeviceToken?

    package init(device: Int64, kind: Kind, reason: String? = nil, token: DeviceToken? = nil) {
        (self.device, self.kind, self.reason, self.token) = (device, kind, reason, token)
    }
}
