package import PushTypes

/// The state of tokens and environments, and its history.
package protocol TokenStateStore: Sendable {
    func health(app: Int64, environment: PushEnvironment) async throws -> EnvironmentHealth
    /// Writes whether the breaker is open, and why.
    func setHealth(_ health: EnvironmentHealth, app: Int64, environment: PushEnvironment) async throws
    /// Writes that a push was accepted, unless that is known.
    func setProven(app: Int64, environment: PushEnvironment, at: Timestamp) async throws
    /// The bound between the devices that were added before this moment, whose ids are lower, and all later ones;
    /// `Int64.max` if there are no later ones. Ids are in the order in which devices were added.
    func firstDevice(addedSince: Timestamp) async throws -> Int64
    /// Newest first, those before `before`.
    func tokenEvents(
        app: Int64,
        token: DeviceToken?,
        action: TokenEventRecord.Action?,
        before: Int64?,
        limit: Int
    ) async throws -> [TokenEventRecord]
    /// Deactivates the devices whose deactivation was withheld, or forgets that it was, in several transactions if they
    /// are many. Returns their number.
    func settleWithheld(
        app: Int64,
        environment: PushEnvironment,
        deactivates: Bool,
        now: Timestamp
    ) async throws -> Int
}
