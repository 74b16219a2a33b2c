import PushProvider
import PushStore

extension DirectDispatch {
    /// Takes back what is in memory for devices that have registered other preferences (docs/decisions/0051).
    /// - Returns: The number of pushes under way; `nil` if no registration has preferences.
    func takeBack(_ registrations: [DeviceRegistration], _ results: [RegistrationResult], app: Int64) -> Int? {
        let changed = zip(registrations, results).filter { $0.0.preferences != nil }.map(\.1)
        guard !changed.isEmpty else { return nil }
        return self.apply(.devices(Set(changed.flatMap { [$0.device] + $0.siblings }), app: app)).count
    }
}
