package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// Registers and deletes devices, for the API and all other callers.
///
/// Once a change is stored, pushes in memory to the changed devices are taken back if possible (docs/decisions/0051).
package struct DeviceChanges: Sendable {
    /// The results of registrations, in their order.
    package struct Registered: Sendable {
        package let results: [RegistrationResult]
        /// The number of pushes that could not be taken back, to devices whose user or preferences have changed, or
        /// `nil` if no such device has changed.
        package let underWay: Int?
    }

    private let store: any DeviceStore
    private let direct: DirectDispatch?

    /// Creates the service. `direct` has the notifications in memory, or is `nil` if there is no dispatcher.
    package init(store: any DeviceStore, direct: DirectDispatch?) {
        (self.store, self.direct) = (store, direct)
    }

    /// Adds or refreshes devices, and takes back pushes to those whose user or preferences have changed.
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> Registered {
        self.registered(try await self.store.register(registrations, app: app, at: clocks), app: app)
    }

    /// Adds or refreshes the device of an installation that registers itself.
    /// - Parameter isProven: `true` if the caller has proven that the installation is its own, and `false` to accept
    ///   only a token that the installation already has.
    /// - Returns: The result, and the pushes in flight as ``Registered/underWay``, or `nil` if the token is refused.
    package func registerOwn(
        _ registration: DeviceRegistration,
        isProven: Bool,
        app: Int64,
        at clocks: ClockReading
    ) async throws -> (result: RegistrationResult, underWay: Int?)? {
        let result = try await self.store.registerOwn(registration, isProven: isProven, app: app, at: clocks)
        guard let result else { return nil }
        return (result, self.registered([result], app: app).underWay)
    }

    private func registered(_ results: [RegistrationResult], app: Int64) -> Registered {
        let outdated = results.flatMap(\.outdated)
        return Registered(results: results, underWay: outdated.isEmpty ? nil : self.takeBack(outdated, app: app))
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
        self.takeBack(deleted, app: app)
        return !deleted.isEmpty
    }

    /// Deletes the devices of an installation.
    package func delete(app: Int64, installation: String, now: Timestamp) async throws {
        self.takeBack(try await self.store.deleteDevices(app: app, installation: installation, now: now), app: app)
    }

    /// Takes back the pushes to devices whose registrations have changed.
    /// - Returns: The number of pushes that are in flight.
    @discardableResult private func takeBack(_ devices: [Int64], app: Int64) -> Int {
        self.direct?.takeBack(devices: devices, app: app) ?? 0
    }
}
