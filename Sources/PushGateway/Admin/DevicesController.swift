import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `GET /v1/devices…`: who is there.
struct DevicesController: AdminRoutes {
    let devices: DeviceRegistry
    let environments: [EnvironmentCore]

    private struct Page: Encodable {
        var devices: [DeviceEntry]
        /// Ask for what follows with `after`; absent at the end.
        var next: String?
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("devices", use: self.list)
        group.get("devices/:device", use: self.show)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let limit = Int(try request.number("limit", in: 1...1000, default: 100))
        let filter = try Self.filter(request)
        let online = self.environments.reduce(into: Set<UUID>()) { $0.formUnion($1.router.online) }
        // One more than wanted, to see whether there are more.
        let found = self.devices.page(after: try request.device("after"), limit: limit + 1) {
            filter($0, online.contains($0.id))
        }
        guard let found else {
            throw RequestError(
                .invalid,
                code: "invalid_value",
                message: "use the 'next' of the page before, or the id of a device",
                path: "after"
            )
        }
        let page = found.prefix(limit)
        return try JSONResponse.make(
            .ok,
            Page(
                devices: page.map { DeviceEntry($0, isOnline: online.contains($0.id)) },
                next: found.count > limit ? page.last?.id.uuidString : nil
            )
        )
    }

    /// What `online`, `topic` and `name` ask for; a device has to meet all of them.
    private static func filter(_ request: Request) throws -> (Device, Bool) -> Bool {
        let (topic, name) = (try request.text("topic"), try request.text("name")?.lowercased())
        let online: Bool? =
            switch try request.text("online") {
            case nil: nil
            case "true": true
            case "false": false
            default:
                throw RequestError(.invalid, code: "invalid_value", message: "use true or false", path: "online")
            }
        return { device, isOnline in
            if let online, online != isOnline { return false }
            if let topic, !device.installs.contains(where: { $0.isActive && $0.topic.name == topic }) { return false }
            if let name, device.name?.lowercased().contains(name) != true { return false }
            return true
        }
    }

    @Sendable private func show(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard let device = self.devices.device(id) else { throw RequestError.noSuchDevice }
        let connections = self.environments.map {
            DeviceDetails.Connection($0.environment, $0.router.session(of: id))
        }
        return try JSONResponse.make(.ok, DeviceDetails(device, connections: connections, tokens: self.devices))
    }
}
