import ProviderModel
import PushTypes

/// The place of a device in its installation, which has one device per kind of token and Live Activity.
struct DevicePlace: Hashable {
    /// The installation; `nil` for a token without a known installation.
    var installation: String?
    var kind: DeviceTokenKind
    var activity: String

    /// Creates the place of a registration. Properties that it leaves out are those of the stored device with its token.
    init(_ registration: DeviceRegistration, _ byToken: RegisteredRow?) {
        let stored = byToken.flatMap { $0.hasLeft ? nil : $0 }
        self.installation = registration.installation ?? stored?.installation
        self.kind = registration.kind ?? stored?.kind ?? .alert
        self.activity = self.kind == .liveActivityUpdate ? registration.activity ?? stored?.activity ?? "" : ""
    }

    /// Returns `true` if a device has this kind and activity.
    func isPlace(of row: RegisteredRow) -> Bool { row.kind == self.kind && row.activity == self.activity }
}
