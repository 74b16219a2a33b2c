import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// A device in a response.
struct DeviceResponse: Encodable {
    var id: Int64
    var token: String
    var environment: String
    var user: String?
    var locale: String?
    var timeZone: String?
    var appVersion: String?
    var installation: String?
    var capabilities: [String]
    var tags: [String]
    var attributes: [String: JSONValue]
    /// `active`, or `inactive` once the token is known to be invalid.
    var state: String
    var createdAtMs: Int64
    var registeredAtMs: Int64

    init(_ device: DeviceRecord) {
        let profile = device.profile
        self.id = device.id
        self.token = device.token.hex
        self.environment = device.environment.rawValue
        self.user = profile.user
        self.locale = profile.locale
        self.timeZone = profile.timeZone
        self.appVersion = profile.appVersion
        self.installation = profile.installation
        self.capabilities = DeviceCapabilities.named.filter { profile.capabilities.contains($0.value) }.keys.sorted()
        self.tags = profile.tags.sorted()
        self.attributes = profile.attributes
        self.state = device.isActive ? "active" : "inactive"
        self.createdAtMs = device.createdAt.milliseconds
        self.registeredAtMs = device.registeredAt.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "id": .integer(), "token": .string(), "environment": .environment,
            "capabilities": .array(of: .string()), "tags": .array(of: .string()), "attributes": .map(of: .any),
            "state": .choice(["active", "inactive"]), "createdAtMs": .timestamp,
            "registeredAtMs": Schema.timestamp.described("The latest registration, milliseconds since 1970."),
        ],
        optional: [
            "user": .string(), "locale": .string(), "timeZone": .string(), "appVersion": .string(),
            "installation": .string(),
        ]
    ).named("Device")
}
