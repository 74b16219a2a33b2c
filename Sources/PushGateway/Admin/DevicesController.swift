import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol

/// `/v1/devices`: activation, who is there, what happened to whom.
struct DevicesController: Sendable {
    private static let longestName = 100

    let registry: Registry
    let router: Router
    let activation: DeviceActivation
    let database: any DatabaseReader
    let time: any TimeSource

    private struct NewDevice: Decodable {
        /// PKCS#10 in PEM.
        var csr: String
        var name: String?
    }

    private struct Activated: Encodable {
        var deviceId: String
        /// PEM, as are the next two.
        var certificate: String
        var deviceAuthority: String
        /// What the gateway's own certificate chains to.
        var authority: String
    }

    private struct Device: Encodable {
        var deviceId: String
        var name: String?
        var online: Bool
        /// Milliseconds since 1970, as every time here.
        var activatedAt: Int64
        var lastSeenAt: Int64?
        var topics: [String]
    }

    private struct EventEntry: Encodable {
        var timeMs: Int64
        var event: String
        var topic: String?
        var apnsId: String?
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("devices", use: self.list).post("devices", use: self.activate)
        group.get("devices/:device/events", use: self.events)
        group.delete("devices/:device", use: self.delete)
        group.delete("devices/:device/topics/:topic", use: self.removeApp)
    }

    @Sendable private func activate(_ request: Request, _ context: AdminContext) async throws -> Response {
        let new = try APIRefusal.decode(NewDevice.self, from: try await context.body(of: request))
        guard new.name?.utf8.count ?? 0 <= Self.longestName else {
            throw APIRefusal(status: 400, code: "name_too_long", message: "a name has at most 100 bytes", field: "name")
        }
        let (id, now) = (UUID(), self.time.now)
        let certificate = try self.activation.certificate(signingRequest: new.csr, device: id, now: now)
        try await self.registry.activate(.init(id: id, name: new.name, activatedAt: now))
        return try JSONAnswer.make(
            .created,
            Activated(
                deviceId: id.uuidString,
                certificate: certificate,
                deviceAuthority: self.activation.deviceAuthorityPEM,
                authority: self.activation.authorityPEM
            )
        )
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        let lastSeen = try await self.database.read { try RegistryRecords.lastSeen($0) }
        var devices: [Device] = []
        for device in self.registry.devices {
            devices.append(
                Device(
                    deviceId: device.id.uuidString,
                    name: device.name,
                    online: await self.router.isOnline(device.id),
                    activatedAt: device.activatedAt.milliseconds,
                    lastSeenAt: lastSeen[device.id]?.milliseconds,
                    topics: device.registrations.values.filter(\.isActive).map(\.topic.name).sorted()
                )
            )
        }
        return try JSONAnswer.make(.ok, ["devices": devices])
    }

    @Sendable private func events(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        let limit = Int(try request.number("limit", in: 1...1000, default: 50))
        let events = try await self.database.read { try EventTable(database: $0).events(device: id, limit: limit) }
        guard !events.isEmpty || self.registry.device(id) != nil else { throw Self.noSuchDevice }
        let entries = events.map {
            EventEntry(timeMs: $0.time.milliseconds, event: $0.name, topic: $0.topic, apnsId: $0.apnsID)
        }
        return try JSONAnswer.make(.ok, ["events": entries])
    }

    @Sendable private func delete(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard try await self.registry.delete(device: id, now: self.time.now) else { throw Self.noSuchDevice }
        await self.router.close(id)
        return Response(status: .noContent)
    }

    @Sendable private func removeApp(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard self.registry.device(id) != nil else { throw Self.noSuchDevice }
        guard let topic = context.parameters.get("topic").flatMap({ Topic($0) }),
            try await self.registry.removeApp(device: id, topic: topic, now: self.time.now)
        else {
            throw APIRefusal(
                status: 404,
                code: "no_such_topic",
                message: "this device has no app with this topic",
                field: "topic"
            )
        }
        return Response(status: .noContent)
    }

    private static var noSuchDevice: APIRefusal {
        APIRefusal(status: 404, code: "no_such_device", message: "there is no device with this id", field: "device")
    }
}
