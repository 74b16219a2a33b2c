package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// The service that registers and deletes devices, for the API and all other callers.
///
/// Once a change is stored, pushes in memory to the changed devices are taken back if possible (docs/decisions/0051).
package struct DeviceRegistrar: Sendable {
    /// The result of storing registrations, and of taking back the pushes that they made outdated.
    package struct Registered: Sendable {
        /// The results of the registrations, in their order.
        package let results: [RegistrationResult]
        /// The number of pushes that could not be taken back, to devices whose user or preferences have changed, or that
        /// were removed; `nil` if there is no such device.
        package let underWay: Int?
    }

    private let store: any DeviceStore
    private let direct: DirectDispatch

    /// Creates the service.
    /// - Parameter direct: The queue with the pushes in memory.
    package init(store: any DeviceStore, direct: DirectDispatch) { (self.store, self.direct) = (store, direct) }

    /// Adds or refreshes devices, and takes back the pushes that the registrations make outdated.
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> Registered {
        self.registered(try await self.store.register(registrations, app: app, at: clocks), app: app)
    }

    /// Adds or refreshes the device of an installation that registers itself.
    /// - Parameter isProven: `true` if the caller has proven that the installation is its own; `false` accepts only a
    ///   token that the installation already has.
    /// - Returns: The only result; `nil` if the token was not accepted.
    package func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> Registered? {
        let result = try await self.store.registerOwn(registration, isProven: isProven, app: app, at: clocks)
        return result.map { self.registered([$0], app: app) }
    }

    private func registered(_ results: [RegistrationResult], app: Int64) -> Registered {
        let outdated = results.flatMap(\.outdated)
        let underWay = outdated.isEmpty ? nil : self.direct.takeBack(devices: outdated, app: app)
        return Registered(results: results, underWay: underWay)
    }

    /// Deletes the devices with a token, in one environment, or in both if `environment` is `nil`.
    /// - Returns: `true` if a device was deleted, and `false` if there was no such device.
    package func delete(
        app: Int64,
        token: DeviceToken,
        environment: PushEnvironment?,
        now: Timestamp
    ) async throws -> Bool {
        let deleted = try await self.store.deleteDevices(app: app, token: token, environment: environment, now: now)
        self.direct.takeBack(devices: deleted, app: app)
        return !deleted.isEmpty
    }

    /// Deletes the devices of an installation.
    package func delete(app: Int64, installation: String, now: Timestamp) async throws {
        let deleted = try await self.store.deleteDevices(app: app, installation: installation, now: now)
        self.direct.takeBack(devices: deleted, app: app)
    }
}
