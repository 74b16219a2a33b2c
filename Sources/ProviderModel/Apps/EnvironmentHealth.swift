package import PushTypes

/// The state of an app in an environment, derived from the responses to its pushes.
package struct EnvironmentHealth: Hashable, Sendable {
    /// The time at which the circuit breaker opened, so that rejected tokens stay active, or `nil` while it is closed.
    package var breakerOpenSince: Timestamp?
    package var breakerReason: String?
    /// The time of the first push that was accepted with the credential, or `nil` before that.
    package var provenAt: Timestamp?
    /// The epoch of the credential (``StoredCredential/epoch``) to which the state applies. A new one resets the state.
    package var epoch: Int64

    package init(epoch: Int64 = 0) { self.epoch = epoch }
}
