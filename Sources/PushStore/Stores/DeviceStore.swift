package import PushTypes

/// The devices: one per app, environment and token, and one per app, environment and installation.
package protocol DeviceStore: Sendable {
    /// Adds devices or refreshes them, in one transaction. What a registration leaves out stays as it was.
    func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        now: Timestamp
    ) async throws -> [RegistrationResult]
    /// Returns devices in the order of their ids, beginning after `after`, with the inactive ones.
    ///
    /// Devices that cannot be read are left out. There are fewer than `limit` only when no more follow.
    /// - Parameter environment: The environment of the devices; `nil` for both.
    func devices(
        app: Int64,
        audience: AudienceExpression,
        environment: PushEnvironment?,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord]
    /// Returns the devices with this token: one per environment at most.
    func devices(app: Int64, token: DeviceToken) async throws -> [DeviceRecord]
    /// Deletes the devices with this token.
    /// - Returns: The number of deleted devices, with those that cannot be read.
    func deleteDevices(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> Int
    /// Returns the number of active devices in the audience.
    func count(app: Int64, audience: AudienceExpression, environment: PushEnvironment?) async throws -> Int
    /// Returns the number of active devices in each time zone; `nil` stands for devices without one.
    func timeZones(app: Int64) async throws -> [String?: Int]
}

extension DeviceStore {
    /// Returns devices as ``devices(app:audience:environment:after:limit:)`` does, in both environments.
    package func devices(
        app: Int64,
        audience: AudienceExpression,
        after: Int64,
        limit: Int
    ) async throws -> [DeviceRecord] {
        try await self.devices(app: app, audience: audience, environment: nil, after: after, limit: limit)
    }
}
