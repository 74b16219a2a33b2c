package import PushTypes

/// The state of an app in an environment, derived from the responses to its pushes.
package struct EnvironmentHealth: Hashable, Sendable {
    /// The time at which the circuit breaker opened, which stops the deactivation of rejected tokens; `nil` while it is
    /// closed.
    package var breakerOpenSince: Timestamp?
    package var breakerReason: String?
    /// The time of the first push that was accepted with the credential; `nil` before that.
    package var provenAt: Timestamp?
    /// The epoch of the credential to which the state applies (``StoredCredential/epoch``). A new credential resets the
    /// state.
    package var epoch: Int64

    package init(epoch: Int64 = 0) { self.epoch = epoch }
}
