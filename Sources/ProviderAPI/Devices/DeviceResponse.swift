package import PushHTTP
import PushProvider
package import PushStore
import PushSupport
import PushTypes

extension DeviceTokenKind: JSONRepresentable {}

/// A device in a response.
package struct DeviceResponse: ResponseObject {
    package let device: DeviceRecord
    /// The number of pushes that a registration came too late for; `nil` for one that changes neither preferences nor the
    /// user.
    var underWay: Int?

    private var capabilities: [String] {
        let capabilities = self.device.profile.capabilities
        return DeviceCapabilities.named.filter { capabilities.contains($0.value) }.keys.sorted()
    }
    private var preferences: JSONValue? {
        let preferences = self.device.profile.preferences
        return preferences == Preferences() ? nil : preferences.json
    }
    private var encryptionKey: JSONValue? { self.device.profile.encryptionKey?.json }
    private var tags: [String] { self.device.profile.tags.sorted().map(\.text) }
    /// `active`, or `inactive` once the token is known to be invalid.
    package var state: String { self.device.isActive ? "active" : "inactive" }

    /// The description of ``underWay``, also where several devices are registered.
    static let tooLate =
        "The pushes that the change of preferences or of the user came too late for; absent without one."

    package static let schemaName: String? = "Device"
    package static let members: [ResponseMember<Self>] = [
        .required("id", \.device.id),
        .required("token", \.device.token.hex),
        .required("environment", \.device.environment),
        .required("kind", \.device.kind, "The kind of the token."),
        .optional("activity", \.device.activity, "The app's id of the Live Activity to which the token belongs."),
        .optional("user", \.device.profile.user),
        .optional("locale", \.device.profile.locale),
        .optional("timeZone", \.device.profile.timeZone),
        .optional("appVersion", \.device.profile.appVersion),
        .optional("installation", \.device.profile.installation),
        .required("capabilities", \.capabilities),
        .required("tags", \.tags),
        .required("attributes", \.device.profile.attributes, as: .map(of: .any)),
        .optional("preferences", \.preferences, as: Preferences.object.schema, "What the device itself has said."),
        .optional("encryptionKey", \.encryptionKey, as: InstallationPublicKey.object.schema),
        .required("state", \.state, as: .choice(["active", "inactive"])),
        .required("createdAtMs", \.device.createdAt),
        .optional("underWay", \.underWay, Self.tooLate),
        .required("registeredAtMs", \.device.registeredAt, "The latest registration, milliseconds since 1970."),
    ]
}

extension DeviceResponse {
    init(device: DeviceRecord) { self.init(device: device, underWay: nil) }
}
