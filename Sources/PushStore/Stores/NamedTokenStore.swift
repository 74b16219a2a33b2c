package import PushTypes

/// The knowledge about tokens that another system names, one by one.
package protocol NamedTokenStore: Sendable {
    /// Returns the registrations of tokens, one per environment at most. Tokens without one are left out.
    func registrations(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: [NamedTokenRegistration]]
    /// Returns the state of a token as notifications that name it find it.
    func tokenState(of token: DeviceToken, app: Int64, environment: PushEnvironment) async throws -> TokenState
    /// Returns those of some tokens that an app has registered in any environment, or whose state is known: one read for all.
    func known(_ tokens: Set<DeviceToken>, app: Int64, environment: PushEnvironment) async throws -> Set<DeviceToken>
    /// Gives a tag to the active devices with some tokens, or takes it from them, in one transaction. The other devices of
    /// their installations follow, as they share the profile.
    /// - Returns: The change of each token, in their order.
    func setTag(_ tag: String, isSet: Bool, of tokens: [DeviceToken], app: Int64) async throws -> [TagChangeResult]
}

/// The registration of a token in one environment.
package struct NamedTokenRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var kind: DeviceTokenKind
    /// Is `false` once the push service has called the token invalid.
    package var isActive: Bool

    package init(environment: PushEnvironment, kind: DeviceTokenKind, isActive: Bool) {
        (self.environment, self.kind, self.isActive) = (environment, kind, isActive)
    }
}

/// The result of a change of one tag.
package enum TagChangeResult: Hashable, Sendable {
    case changed
    /// The devices had the tag before, or did not.
    case unchanged
    /// No active device has the token.
    case noDevice
    /// Nothing was changed: the device would exceed a bound.
    case excess(ExceededDeviceBound)
}
