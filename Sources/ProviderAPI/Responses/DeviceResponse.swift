import PushProvider
import PushStore
import PushSupport
import PushTypes

/// A device.
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
    /// `active`, or `inactive` once the push service said that the token is dead.
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
            "state": .choice(["active", "inactive"]), "createdAtMs": .moment,
            "registeredAtMs": Schema.moment.described("The latest registration, milliseconds since 1970."),
        ],
        optional: [
            "user": .string(), "locale": .string(), "timeZone": .string(), "appVersion": .string(),
            "installation": .string(),
        ]
    ).named("Device")
}

/// Several devices, with where they go on.
struct DeviceListResponse: Encodable {
    var devices: [DeviceResponse]
    var next: String?

    init(_ devices: [DeviceRecord], limit: Int) {
        self.devices = devices.map(DeviceResponse.init)
        self.next = devices.count == limit ? devices.last.map { Cursor(list: .devices, position: $0.id).text } : nil
    }

    static let schema = Schema.page("devices", of: DeviceResponse.schema)
}

extension Schema {
    /// A page of a list.
    static func page(_ name: String, of element: Schema) -> Schema {
        Schema.object(
            required: [name: .array(of: element)],
            optional: ["next": .string().described("Ask for what follows with cursor; absent at the end.")]
        )
    }

    /// A list that is there as a whole.
    static func list(_ name: String, of element: Schema) -> Schema {
        Schema.object(required: [name: .array(of: element)])
    }
}
