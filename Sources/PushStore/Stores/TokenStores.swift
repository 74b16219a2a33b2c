package import ProviderModel
package import PushTypes

/// The store of the states of tokens and environments, and of their history.
package protocol TokenStateStore: Sendable {
    /// Returns the health of an environment, including the state of its circuit breaker.
    func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth
    /// Stores the state of an environment's circuit breaker, unless the environment's credential has changed since.
    func setHealth(_ health: EnvironmentHealth, app: Int64, environment: PushEnvironment) async throws
    /// Records the time of the first push accepted with a credential, unless the credential's epoch has changed since.
    func setProven(app: Int64, environment: PushEnvironment, epoch: Int64, at: Timestamp) async throws
    /// Returns the id that separates the devices added before a time, which have lower ids, from those added later. Ids
    /// rise in the order in which devices were added.
    func firstDevice(addedSince: Timestamp) async throws -> Int64
    /// Returns an app's token events, newest first, with ids below `before`. A parameter that is `nil` excludes none.
    func tokenEvents(
        app: Int64,
        token: DeviceToken?,
        action: TokenEventRecord.Action?,
        before: Int64?,
        limit: Int
    ) async throws -> [TokenEventRecord]
    /// Returns the number of tokens whose deactivation the circuit breaker withholds.
    func withheldTokens(app: Int64, environment: PushEnvironment) async throws -> Int
    /// Closes the circuit breaker of an environment. Devices whose deactivation was withheld are deactivated if
    /// `deactivates` is `true`, and stay active otherwise. Many devices take several transactions.
    /// - Returns: The number of devices whose deactivation was withheld.
    func settleWithheld(app: Int64, environment: PushEnvironment, deactivates: Bool, now: Timestamp) async throws -> Int
    /// Returns the number of devices that ``reactivate(_:app:limit:now:)`` would reactivate without a limit.
    func deactivated(_ filter: DeactivationFilter, app: Int64) async throws -> Int
    /// Reactivates devices that a deactivation matching the filter has made inactive, and that still have the token.
    ///
    /// Many devices take several transactions.
    /// - Parameter limit: The number of devices after which it stops, at the end of a page.
    func reactivate(_ filter: DeactivationFilter, app: Int64, limit: Int, now: Timestamp) async throws -> Reactivation
}

/// The store of the registrations and states of tokens that requests and bridges name directly.
package protocol NamedTokenStore: Sendable {
    /// Returns the registrations of tokens, at most one per environment. Unregistered tokens are left out.
    func registrations(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: [NamedTokenRegistration]]
    /// Returns the state that a token has for notifications that name it.
    func tokenState(of token: DeviceToken, app: Int64, environment: PushEnvironment) async throws -> TokenState
    /// Returns those tokens that are registered in any environment or whose state is known, in a single read.
    func known(_ tokens: Set<DeviceToken>, app: Int64, environment: PushEnvironment) async throws -> Set<DeviceToken>
    /// Adds a tag to the active devices with the given tokens, or removes it, in one transaction. Other devices of the
    /// same installations change as well, because they share the profile.
    /// - Returns: The result for each token, in the order of the tokens.
    func setTag(_ tag: String, isSet: Bool, of tokens: [DeviceToken], app: Int64) async throws -> [TagChangeResult]
}

/// The registration of a token in one environment.
package struct NamedTokenRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var kind: DeviceTokenKind
    /// A Boolean value that indicates whether the push service still accepts the token, as far as is known.
    package var isActive: Bool

    package init(environment: PushEnvironment, kind: DeviceTokenKind, isActive: Bool) {
        (self.environment, self.kind, self.isActive) = (environment, kind, isActive)
    }
}

/// The result of adding or removing a tag.
package enum TagChangeResult: Hashable, Sendable {
    case changed
    /// A result without a change, because the device already had the tag, or because the tag was already absent.
    case unchanged
    /// A result without a change, because there is no active device with the token.
    case noDevice
    /// A result without a change, because the device would exceed a limit.
    case excess(ExceededDeviceLimit)
}

/// The store of readings of the legacy feedback service, at most one at a time for each app and environment.
package protocol FeedbackStore: Sendable {
    /// Returns the last reading, or `nil` before the first one.
    func feedbackRun(of target: AppEnvironment) async throws -> FeedbackRun?
    /// Returns the environments that have a certificate and whose next reading is due at a time, by the steady clock.
    func dueFeedback(at time: Timestamp) async throws -> [AppEnvironment]
    /// Begins a reading if it is due, or returns ``FeedbackStartResult/notDue`` otherwise.
    /// - Parameters:
    ///   - due: The time, by the steady clock, at which the reading must be due, or `nil` to begin it anyway.
    ///   - nextAt: The time of the next reading in case this one does not finish.
    func beginFeedback(
        of target: AppEnvironment,
        due: Timestamp?,
        nextAt: Timestamp,
        now: Timestamp
    ) async throws -> FeedbackStartResult
    /// Records the end of a reading, with its counts and the time of the next reading.
    func endFeedback(of target: AppEnvironment, _ run: FeedbackRun) async throws
    /// Returns the active devices of an environment that have any of these tokens.
    func activeDevices(of target: AppEnvironment, tokens: [DeviceToken]) async throws -> [DeviceRecord]
    /// Applies the token changes that follow from a feedback list, in one transaction.
    func apply(_ changes: [TokenStateChange], of target: AppEnvironment, now: Timestamp) async throws
}

/// The result of a request to begin a reading of a feedback service.
package enum FeedbackStartResult: Hashable, Sendable {
    /// A result for a reading that has begun. The associated value is the number of consecutive failures before it.
    case begun(failures: Int)
    case notDue
}
