import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport
import PushTypes

/// What can be done to a device: activation, reinstallation, move to new hardware, revocation, deletion.
struct DeviceChangesController: AdminRoutes {
    private static let longestName = 100
    /// Latest that the token of a removed app may end: 30 days.
    private static let longestDelay: Int64 = 30 * 86_400

    let devices: DeviceRegistry
    let environments: [EnvironmentCore]
    let activation: DeviceActivation
    let time: any TimeSource

    private struct NewDevice: Decodable {
        /// PKCS#10 in PEM.
        var csr: String
        var name: String?
        /// The device that this one takes the place of.
        var restoreOf: String?
    }

    private struct Reinstallation: Decodable {
        var csr: String
    }

    private struct Disconnected: Encodable {
        /// Connections that were ended.
        var connections: Int
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.post("devices", use: self.activate)
        group.post("devices/:device/reinstall", use: self.reinstall)
        group.post("devices/:device/disconnect", use: self.disconnect)
        group.delete("devices/:device", use: self.delete)
        group.delete("devices/:device/certificate", use: self.revoke)
        group.delete("devices/:device/topics/:topic", use: self.removeApp)
    }

    @Sendable private func activate(_ request: Request, _ context: AdminContext) async throws -> Response {
        let new = try RequestError.decode(NewDevice.self, from: try await context.body(of: request))
        guard new.name?.utf8.count ?? 0 <= Self.longestName else {
            throw RequestError(
                .invalid,
                code: "name_too_long",
                message: "a name has at most 100 bytes",
                path: "name"
            )
        }
        let old = try new.restoreOf.map(self.replaced)
        let (id, now) = (UUID(), self.time.now)
        let (certificate, serial) = try self.activation.certificate(signingRequest: new.csr, device: id, now: now)
        let device = Device(
            id: id,
            name: new.name ?? old?.name,
            activatedAt: now,
            certificateSerial: serial
        )
        if let old {
            guard try await self.devices.restore(device, of: old.id) else { throw Self.nothingToRestore }
            self.forget(old.id)
        } else {
            try await self.devices.activate(device)
        }
        return try self.answer(.created, id, certificate)
    }

    private func replaced(_ text: String) throws -> Device {
        guard let device = UUID(uuidString: text).flatMap(self.devices.device) else { throw Self.nothingToRestore }
        return device
    }

    private static let nothingToRestore = RequestError(
        .notFound,
        code: "no_such_device",
        message: "there is no device with this id to restore",
        path: "restoreOf"
    )

    @Sendable private func reinstall(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        let body = try RequestError.decode(Reinstallation.self, from: try await context.body(of: request))
        guard self.devices.device(id) != nil else { throw RequestError.noSuchDevice }
        let now = self.time.now
        let (certificate, serial) = try self.activation.certificate(signingRequest: body.csr, device: id, now: now)
        guard try await self.devices.reinstall(id, certificateSerial: serial, now: now) != nil else {
            throw RequestError.noSuchDevice
        }
        self.forget(id)
        return try self.answer(.ok, id, certificate)
    }

    @Sendable private func disconnect(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard self.devices.device(id) != nil else { throw RequestError.noSuchDevice }
        return try JSONResponse.make(.ok, Disconnected(connections: self.close(id)))
    }

    @Sendable private func revoke(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard try await self.devices.revoke(id, now: self.time.now) else { throw RequestError.noSuchDevice }
        _ = self.close(id)
        return Response(status: .noContent)
    }

    @Sendable private func delete(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        guard try await self.devices.delete(id, now: self.time.now) else { throw RequestError.noSuchDevice }
        self.forget(id)
        return Response(status: .noContent)
    }

    @Sendable private func removeApp(_ request: Request, _ context: AdminContext) async throws -> Response {
        let id = try context.deviceID()
        let wanted = try request.environment()
        let delay = try request.number("delaySeconds", in: 0...Self.longestDelay, default: 0)
        guard self.devices.device(id) != nil else { throw RequestError.noSuchDevice }
        var wasThere = false
        if let topic = context.parameters.get("topic").flatMap({ Topic($0) }) {
            for core in self.environments where wanted == nil || core.environment == wanted {
                let removed = try await self.devices.remove(
                    topic,
                    from: id,
                    in: core.environment,
                    now: self.time.now,
                    delay: .seconds(delay)
                )
                if removed { core.router.removed(topic, from: id) }
                wasThere = wasThere || removed
            }
        }
        guard wasThere else {
            throw RequestError(
                .notFound,
                code: "no_such_topic",
                message: "this device has no app with this topic",
                path: "topic"
            )
        }
        return Response(status: .noContent)
    }

    private func answer(_ status: HTTPResponse.Status, _ id: UUID, _ certificate: String) throws -> Response {
        try JSONResponse.make(
            status,
            ActivatedDevice(
                deviceId: id.uuidString,
                certificate: certificate,
                deviceAuthority: self.activation.deviceAuthorityPEM,
                authority: self.activation.authorityPEM
            )
        )
    }

    /// Drops what is on its way or stored for the device, and ends its connections.
    private func forget(_ id: UUID) {
        for core in self.environments { core.router.removed(nil, from: id) }
    }

    /// Ends the device's connections; how many there were.
    private func close(_ id: UUID) -> Int {
        self.environments.count { $0.router.close(id) }
    }
}
