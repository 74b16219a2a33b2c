import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// `GET /v1/devices`: lookup of devices.
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

    /// Responds with a page of the devices that match the filters, in the order of their activation.
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

    /// Returns the filter of the query items `online`, `topic` and `name`, all of which a device must match.
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

    /// Responds with one device in full.
    private func show(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        guard let device = self.devices.device(id) else { throw RequestError.noSuch("device") }
        let connections = self.environments.map {
            DeviceDetails.Connection(environment: $0.environment, session: $0.router.session(of: id))
        }
        return try .json(DeviceDetails(device, connections: connections, tokens: self.devices))
    }
}
