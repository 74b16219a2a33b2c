import Foundation
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// The operations at `GET /v1/devices`, which look up devices.
struct AdminDevicesController: Controller {
    let devices: DeviceRegistry
    let environments: [EnvironmentCore]

    var operations: [AdminOperation] {
        let filters: [ParameterDescription] = [
            .topic, .query("online", "Connected or not."), .query("name", "With this text in their name."),
        ]
        return [
            .get("/v1/devices", "listDevices", "The devices that match all filters.", self.list)
                .parameters(AdminPage.parameters + filters),
            .get("/v1/devices/{device}", "showDevice", "One device with its tokens and connections.", self.show),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        let page = try AdminPage(request)
        let filter = try Self.filter(request)
        let online = self.environments.reduce(into: Set<UUID>()) { $0.formUnion($1.router.online) }
        let found = self.devices.page(after: try request.device("after"), limit: page.fetch) {
            filter($0, online.contains($0.id))
        }
        guard let found else {
            throw RequestError.invalid("after", "use the member next of the page before, or the id of a device")
        }
        let entries = found.map { DeviceEntry(device: $0, isOnline: online.contains($0.id)) }
        return try page.response("devices", entries) { $0.device.id.uuidString }
    }

    /// Returns the filter for devices by the query items `online`, `topic` and `name`, all of which must match. The
    /// second argument of the filter is `true` for a device that is connected. An absent item matches all devices.
    private static func filter(_ request: OperationRequest) throws -> (ActivatedDevice, Bool) -> Bool {
        let (topic, name) = (try request.text("topic"), try request.text("name")?.lowercased())
        let online: Bool? =
            switch try request.text("online") {
            case nil: nil
            case "true": true
            case "false": false
            default: throw RequestError.invalid("online", "use true or false")
            }
        return { device, isOnline in
            if let online, online != isOnline { return false }
            if let topic, !device.installs.contains(where: { $0.isActive && $0.topic.name == topic }) { return false }
            if let name, device.name?.lowercased().contains(name) != true { return false }
            return true
        }
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        guard let device = self.devices.device(id) else { throw RequestError.noSuch("device") }
        let connections = self.environments.map {
            DeviceDetails.Connection(environment: $0.environment, session: $0.router.session(of: id))
        }
        return try .json(DeviceDetails(device, connections: connections, tokens: self.devices))
    }
}

/// A device in a list. Times are in milliseconds since 1970, as everywhere in the admin API.
private struct DeviceEntry: ResponseObject {
    let device: ActivatedDevice
    /// A Boolean value that indicates whether the device is connected in at least one environment.
    let isOnline: Bool

    /// A Boolean value that indicates whether the device's certificate was revoked, so that the device cannot connect.
    private var isRevoked: Bool { self.device.revokedAt != nil }
    /// The topics of the apps that are installed in at least one environment, in alphabetical order.
    private var topics: [String] { Set(self.device.installs.filter(\.isActive).map(\.topic.name)).sorted() }

    static let members: [ResponseMember<Self>] = [
        .required("deviceId", \.device.id),
        .optional("name", \.device.name),
        .required("online", \.isOnline),
        .required("revoked", \.isRevoked),
        .required("activatedAt", \.device.activatedAt),
        .optional("lastSeenAt", \.device.lastSeenAt),
        .required("topics", \.topics),
    ]
}

/// The complete description of a device in a response.
///
/// The whole token of each app is shown, because a test push needs it and only the owner of the machine reaches the
/// admin API.
private struct DeviceDetails: ResponseObject {
    let device: ActivatedDevice
    let connections: [Connection]
    let installs: [Install]

    static let members: [ResponseMember<Self>] = [
        .required("deviceId", \.device.id),
        .optional("name", \.device.name),
        .required("activatedAt", \.device.activatedAt),
        .optional("lastSeenAt", \.device.lastSeenAt),
        .optional("certificateSerial", \.device.certificateSerial, "In lower-case hexadecimal."),
        .optional("revokedAt", \.device.revokedAt),
        .required("epoch", \.device.epoch, "The number of reinstallations of the system."),
        .required("connections", \.connections),
        .required("installs", \.installs),
    ]

    struct Connection: ResponseObject {
        let environment: PushEnvironment
        /// The session of the connection, or `nil` if the device is not connected.
        let session: DeviceSession?

        private var channels: Int { self.session?.channels.count ?? 0 }

        static let members: [ResponseMember<Self>] = [
            .required("environment", \.environment),
            .required("online", { $0.session != nil }),
            .optional("active", \.session?.isActive, "Is true while the device is in use."),
            .required("unacknowledged", { $0.session?.unacknowledged.count ?? 0 }),
            .required("channels", \.channels, "The channels that it subscribed to on this connection."),
        ]
    }

    /// An app that is or was installed on the device.
    struct Install: ResponseObject {
        let install: ActivatedDevice.Install
        /// The current token in hexadecimal, or `nil` for an app that was removed.
        let token: String?

        static let members: [ResponseMember<Self>] = [
            .required("environment", \.install.environment),
            .required("topic", \.install.topic),
            .required("generation", \.install.generation, "The number of tokens that were minted for it."),
            .required("tokenKeyId", \.install.keyID, "The token key of the current token."),
            .required("mintedAt", \.install.mintedAt),
            .optional("endedAt", \.install.endedAt, "The past or future end of its token."),
            .optional("token", \.token),
        ]
    }

    /// Creates the response for a device, with the current token of each app.
    /// - Throws: An error of the encryption, for a token that cannot be sealed.
    init(_ device: ActivatedDevice, connections: [Connection], tokens: DeviceRegistry) throws {
        (self.device, self.connections) = (device, connections)
        self.installs = try device.installs
            .sorted { ($0.topic.name, $0.environment.rawValue) < ($1.topic.name, $1.environment.rawValue) }
            .map { install in
                let token = try tokens.currentToken(install.hash, on: device.id, in: install.environment)
                return Install(install: install, token: token?.hex)
            }
    }
}
