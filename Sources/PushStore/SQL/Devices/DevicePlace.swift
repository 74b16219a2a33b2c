import ProviderModel
import PushTypes

/// The key of a device within its installation. An installation has one device per kind of token and Live Activity.
struct DevicePlace: Hashable {
    /// The installation, or `nil` for a token whose installation is unknown.
    var installation: String?
    var kind: DeviceTokenKind
    var activity: String

    /// Creates the key for a registration. Values that the registration omits are taken from `byToken`, the stored
    /// device with the same token, if there is one.
    init(_ registration: DeviceRegistration, _ byToken: RegisteredRow?) {
        let stored = byToken.flatMap { $0.hasLeft ? nil : $0 }
        self.installation = registration.installation ?? stored?.installation
        self.kind = registration.kind ?? stored?.kind ?? .alert
        self.activity = self.kind == .liveActivityUpdate ? registration.activity ?? stored?.activity ?? "" : ""
    }

    /// Returns whether a device of the same installation has this kind of token and this Live Activity.
    func isPlace(of row: RegisteredRow) -> Bool { row.kind == self.kind && row.activity == self.activity }
}
