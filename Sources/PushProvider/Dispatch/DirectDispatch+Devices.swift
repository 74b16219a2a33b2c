package import PushStore

extension DirectDispatch {
    /// Takes back what is in memory for devices that registrations have given other preferences, or taken their user from
    /// (docs/decisions/0051).
    /// - Returns: The number of pushes under way; `nil` if there is no such device.
    package func takeBack(_ results: [RegistrationResult], app: Int64) -> Int? {
        let outdated = results.flatMap(\.outdated)
        return outdated.isEmpty ? nil : self.takeBack(devices: outdated, app: app)
    }

    /// Takes back what is in memory for devices that have changed.
    /// - Returns: The number of pushes under way.
    @discardableResult package func takeBack(devices: [Int64], app: Int64) -> Int {
        devices.isEmpty ? 0 : self.apply(.devices(Set(devices), app: app)).count
    }
}
