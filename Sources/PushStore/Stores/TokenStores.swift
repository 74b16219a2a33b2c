package import ProviderModel
package import PushTypes

/// The states of tokens and environments, and their history.
package protocol TokenStateStore: Sendable {
    /// Returns the state of an environment.
    func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth
    /// Writes the state of an environment's circuit breaker, unless the credential has changed since.
    func setHealth(_ health: EnvironmentHealth, app: Int64, environment: PushEnvironment) async throws
    /// Records the first accepted push with a credential, unless the credential of this epoch has changed since.
    func setProven(app: Int64, environment: PushEnvironment, epoch: Int64, at: Timestamp) async throws
    /// Returns an id such that all devices added before this time have lower ids, and all later ones do not. Ids are in the
    /// order in which devices were added.
    func firstDevice(addedSince: Timestamp) async throws -> Int64
    /// Returns events of an app, the newest first, beginning before `before`.
    func tokenEvents(
        app: Int64,
        token: DeviceToken?,
        action: TokenEventRecord.Action?,
        before: Int64?,
        limit: Int
    ) async throws -> [TokenEventRecord]
    /// Returns the number of tokens whose deactivation is withheld by the circuit breaker.
    func withheldTokens(app: Int64, environment: PushEnvironment) async throws -> Int
    /// Closes the circuit breaker, and either deactivates the devices whose deactivation was withheld or leaves them active.
    /// It takes several transactions if there are many.
    /// - Returns: The number of those devices.
    func settleWithheld(app: Int64, environment: PushEnvironment, deactivates: Bool, now: Timestamp) async throws -> Int
    /// Returns the number of devices that ``reactivate(_:app:limit:now:)`` would reactivate.
    func deactivated(_ filter: DeactivationFilter, app: Int64) async throws -> Int
    /// Reactivates the devices that have been inactive since a deactivation that the filter selects and still have the
    /// same token.
    ///
    /// It takes several transactions if there are many.
    /// - Parameter limit: The number of devices after which it stops, at the end of a page.
    func reactivate(_ filter: DeactivationFilter, app: Int64, limit: Int, now: Timestamp) async throws -> Reactivation
}

/// The registrations and states of tokens that other systems name.
package protocol NamedTokenStore: Sendable {
    /// Returns the registrations of tokens, one per environment at most. Tokens without one are left out.
    func registrations(app: Int64, tokens: [DeviceToken]) async throws -> [DeviceToken: [NamedTokenRegistration]]
    /// Returns the state of a token for notifications that name it.
    func tokenState(of token: DeviceToken, app: Int64, environment: PushEnvironment) async throws -> TokenState
    /// Returns the tokens among these that are registered in any environment, or whose state is known, with a single
    /// read.
    func known(_ tokens: Set<DeviceToken>, app: Int64, environment: PushEnvironment) async throws -> Set<DeviceToken>
    /// Adds a tag to the active devices with some tokens, or removes it, in one transaction. The other devices of their
    /// installations change too, because they share the profile.
    /// - Returns: The result for each token, in their order.
    func setTag(_ tag: String, isSet: Bool, of tokens: [DeviceToken], app: Int64) async throws -> [TagChangeResult]
}

/// The registration of a token in one environment.
package struct NamedTokenRegistration: Hashable, Sendable {
    package var environment: PushEnvironment
    package var kind: DeviceTokenKind
    /// `false` once the push service has called the token invalid.
    package var isActive: Bool

    package init(environment: PushEnvironment, kind: DeviceTokenKind, isActive: Bool) {
        (self.environment, self.kind, self.isActive) = (environment, kind, isActive)
    }
}

/// The result of a change of one tag.
package enum TagChangeResult: Hashable, Sendable {
    case changed
    /// Nothing was changed: the devices had the tag already, or did not have it.
    case unchanged
    /// No active device has the token.
    case noDevice
    /// Nothing was changed: the device would exceed a limit.
    case excess(ExceededDeviceLimit)
}

/// The readings of feedback services, one at a time for each app and environment.
package protocol FeedbackStore: Sendable {
    /// Returns the last reading; `nil` before the first.
    func feedbackRun(of target: AppEnvironment) async throws -> FeedbackRun?
    /// Returns the environments for which apps have a certificate and whose next reading is due, by the steady clock.
    func dueFeedback(at time: Timestamp) async throws -> [AppEnvironment]
    /// Begins a reading, unless the next one is not due yet.
    /// - Parameters:
    ///   - due: The time by the steady clock, at which the reading must be due; `nil` begins it in any case.
    ///   - nextAt: The time of the next reading, in case this one does not end.
    func beginFeedback(
        of target: AppEnvironment,
        due: Timestamp?,
        nextAt: Timestamp,
        now: Timestamp
    ) async throws -> FeedbackStartResult
    /// Ends a reading.
    func endFeedback(of target: AppEnvironment, _ run: FeedbackRun) async throws
    /// Returns the active devices of an environment that have one of these tokens.
    func activeDevices(of target: AppEnvironment, tokens: [DeviceToken]) async throws -> [DeviceRecord]
    /// Applies the changes of tokens that follow from a feedback list, in one transaction.
    func apply(_ changes: [TokenStateChange], of target: AppEnvironment, now: Timestamp) async throws
}

/// The store's reply to a request to begin a reading of a feedback service.
package enum FeedbackStartResult: Hashable, Sendable {
    /// The reading has begun, after this number of failures in a row.
    case begun(failures: Int)
    case notDue
}
