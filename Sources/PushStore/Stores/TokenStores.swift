package import PushTypes

/// The state of tokens and environments, and its history.
package protocol TokenStateStore: Sendable {
    /// Returns the state of an environment.
    func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth
    /// Writes the state of the environment's circuit breaker, unless it is about a credential that has changed.
    func setHealth(_ health: EnvironmentHealth, app: Int64, environment: PushEnvironment) async throws
    /// Writes that a push was accepted, unless an earlier one was, or the credential of this epoch has changed.
    func setProven(app: Int64, environment: PushEnvironment, epoch: Int64, at: Timestamp) async throws
    /// Returns the bound between the devices that were added before this time, whose ids are lower, and all later ones, also
    /// those that are still to come. Ids are in the order in which devices were added.
    func firstDevice(addedSince: Timestamp) async throws -> Int64
    /// Returns events of an app, the newest first, beginning before `before`.
    func tokenEvents(
        app: Int64,
        token: DeviceToken?,
        action: TokenEventRecord.Action?,
        before: Int64?,
        limit: Int
    ) async throws -> [TokenEventRecord]
    /// Returns the number of tokens whose deactivation the circuit breaker withholds.
    func withheldTokens(app: Int64, environment: PushEnvironment) async throws -> Int
    /// Closes the circuit breaker, and deactivates the devices whose deactivation it withheld or leaves them active.
    /// Takes several transactions if there are many.
    /// - Returns: The number of those devices.
    func settleWithheld(app: Int64, environment: PushEnvironment, deactivates: Bool, now: Timestamp) async throws -> Int
    /// Returns the number of devices that ``reactivate(_:app:limit:now:)`` would make active.
    func deactivated(_ filter: DeactivationFilter, app: Int64) async throws -> Int
    /// Makes the devices active again that have been inactive since a selected deactivation, with the same token.
    ///
    /// Takes several transactions if there are many.
    /// - Parameter limit: The number of devices after which it ends, with the page that exceeds it.
    func reactivate(_ filter: DeactivationFilter, app: Int64, limit: Int, now: Timestamp) async throws -> Reactivation
}

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

/// The readings of feedback services, one at a time for each app and environment.
package protocol FeedbackStore: Sendable {
    /// Returns the last reading; `nil` before the first.
    func feedbackRun(of target: AppEnvironment) async throws -> FeedbackRun?
    /// Returns the environments for which apps have a certificate, and whose next reading is due at a time of the steady
    /// clock.
    func dueFeedback(at time: Timestamp) async throws -> [AppEnvironment]
    /// Begins a reading, unless the next one is not due yet.
    /// - Parameters:
    ///   - due: The time by the steady clock at which it is due; `nil` begins it at any time.
    ///   - nextAt: The time of the next reading, if this one does not end.
    func beginFeedback(
        of target: AppEnvironment,
        due: Timestamp?,
        nextAt: Timestamp,
        now: Timestamp
    ) async throws -> FeedbackStartResult
    /// Ends a reading.
    func endFeedback(of target: AppEnvironment, _ run: FeedbackRun) async throws
    /// Returns the active devices of an environment with one of some tokens.
    func activeDevices(of target: AppEnvironment, tokens: [DeviceToken]) async throws -> [DeviceRecord]
    /// Applies changes of tokens that a feedback list asks for, in one transaction.
    func apply(_ changes: [TokenStateChange], of target: AppEnvironment, now: Timestamp) async throws
}

/// The store's response to the beginning of a reading.
package enum FeedbackStartResult: Hashable, Sendable {
    /// It is begun; the number of failures in a row before it.
    case begun(failures: Int)
    case notDue
}
