package import ProviderModel
package import PushStore
package import PushSupport
package import PushTypes

/// The registrations and removals of devices, over whichever door they come.
///
/// Once a change is stored, the pushes in memory that it concerns are taken back (docs/decisions/0051).
package struct DeviceChanges: Sendable {
    /// The results of registrations, in their order.
    package struct Registered: Sendable {
        package let results: [RegistrationResult]
        /// The number of pushes under way to devices that lost their user or got other preferences; `nil` without such devices.
        package let underWay: Int?
    }

    private let store: any DeviceStore
    private let direct: DirectDispatch?

    /// - Parameter direct: The notifications in memory; `nil` if there is no dispatcher.
    package init(store: any DeviceStore, direct: DirectDispatch?) {
        (self.store, self.direct) = (store, direct)
    }

    /// Adds or refreshes devices.
    package func register(
        _ registrations: [DeviceRegistration],
        app: Int64,
        at clocks: ClockReading
    ) async throws -> Registered {
        self.registered(try await self.store.register(registrations, app: app, at: clocks), app: app)
    }

    /// Adds or refreshes the device of an installation that registers itself.
    /// - Parameter isProven: Whether the caller has proven that the installation is its own.
    /// - Returns: The one result; `nil` if the installation has another token, and nothing was changed.
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

    /// Deletes the devices with a token.
    /// - Returns: `false` if there is none.
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
