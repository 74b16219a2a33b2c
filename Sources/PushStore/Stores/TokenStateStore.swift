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
