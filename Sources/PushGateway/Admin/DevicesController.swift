import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol

/// `/v1/devices`: activation, who is there, what happened to whom.
struct DevicesController: Sendable {
    private static let longestName = 100

    let devices: DeviceRegistry
    let environments: [EnvironmentCore]
    let activation: DeviceActivation
    let events: EventLog
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

    private struct DeviceEntry: Encodable {
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
        group.get("devices/:device/events", use: self.listEvents)
        group.delete("devices/:device", use: self.delete)
        group.delete("devices/:device/topics/:topic", use: self.removeApp)
    }

    @Sendable private func activate(_ request: Request, _ context: AdminContext) async throws -> Response {
        let new = try APIRefusal.decode(NewDevice.self, from: try await context.body(of: request))
        guard new.name?.utf8.count ?? 0 <= Self.longestName else {
            throw APIRefusal(status: 400, code: "name_too_long", message: "a name has at most 100 bytes", field: "name")
        }
        let (id, now) = (UUID(), self.time.now)
        let (certificate, serial) = try self.activation.certificate(signingRequest: new.csr, device: id, now: now)
        try await self.devices.activate(
            .init(id: id, name: new.name, activatedAt: now, certificateSerial: serial)
        )
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
        let devices = self.devices.devices.map { device in
            DeviceEntry(
                deviceId: device.id.uuidString,
                name: device.name,
                online: self.environments.contains { $0.router.isOnline(device.id) },
                activatedAt: device.activatedAt.milliseconds,
                lastSeenAt: device.lastSeenAt?.milliseconds,
                topics: Set(device.installs.filter(\.isActive).map(\.topic.name)).sorted()
            )
        }
        return try JSONAnswer.make(.ok, ["devices": devices])
    }

    @Sendable private func listEvents(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        let limit = Int(try request.number("limit", in: 1...1000, default: 50))
        let events = try await self.events.events(EventFilter(device: id), limit: limit)
        guard !events.isEmpty || self.devices.device(id) != nil else { throw Self.noSuchDevice }
        let entries = events.map {
            EventEntry(timeMs: $0.time.milliseconds, event: $0.name.text, topic: $0.topic, apnsId: $0.apnsID)
        }
        return try JSONAnswer.make(.ok, ["events": entries])
    }

    @Sendable private func delete(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard try await self.devices.delete(id, now: self.time.now) else { throw Self.noSuchDevice }
        for environment in self.environments { environment.router.forget(nil, of: id) }
        return Response(status: .noContent)
    }

    @Sendable private func removeApp(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard self.devices.device(id) != nil else { throw Self.noSuchDevice }
        var wasThere = false
        if let topic = context.parameters.get("topic").flatMap({ Topic($0) }) {
            for core in self.environments {
                let removed = try await self.devices.remove(topic, from: id, in: core.environment, now: self.time.now)
                if removed { core.router.forget(topic, of: id) }
                wasThere = wasThere || removed
            }
        }
        guard wasThere else {
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
