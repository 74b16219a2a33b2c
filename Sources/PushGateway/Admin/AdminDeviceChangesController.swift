import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
package import PushSupport

package enum AdminDeviceRequest {
    /// The maximum length of a device's name, in bytes. A longer one is rejected.
    private static let maximumName = 100

    /// The name of a device, which may be empty.
    fileprivate static let name = RequestMember<String>("name", .string(length: 0...Self.maximumName)) {
        (fields, name) throws(RequestError) in
        switch fields.members[name] {
        case nil: return nil
        case .string(let text) where text.utf8.count <= Self.maximumName: return text
        case .string: throw fields.error(name, "name_too_long", "a name has at most \(Self.maximumName) bytes")
        default: throw fields.wrongType(name, "a string")
        }
    }
    fileprivate static let restored = Member.text("restoreOf", 1...256)
        .described("The id of the device that this one replaces.")

    package static let activation = RequestObject(
        required: [Member.signingRequest],
        optional: [Self.name, Self.restored]
    )
    package static let reinstallation = RequestObject(required: [Member.signingRequest])
}

/// The operations at `/v1/devices` that activate, reinstall, move to new hardware, revoke and delete devices.
struct AdminDeviceChangesController: Controller {
    /// The maximum delay before the token of a removed app becomes invalid, in seconds. A longer one is rejected.
    private static let maximumDelay: Int64 = 30 * 86_400

    let devices: DeviceRegistry
    let environments: [EnvironmentCore]
    let activation: DeviceCertificateIssuer
    let time: any TimeSource

    var operations: [AdminOperation] {
        let path = "/v1/devices/{device}"
        return [
            .post("/v1/devices", "activateDevice", "Activates a device, or restores one.", self.activate)
                .body(.admin(AdminDeviceRequest.activation)),
            .post("\(path)/reinstall", "reinstallDevice", "Reinstalls the system of a device.", self.reinstall)
                .body(.admin(AdminDeviceRequest.reinstallation)),
            .post("\(path)/disconnect", "disconnectDevice", "Closes the connections of a device.", self.disconnect),
            .delete(path, "deleteDevice", "Deletes a device.", self.delete),
            .delete("\(path)/certificate", "revokeDevice", "Revokes the certificate of a device.", self.revoke),
            .delete("\(path)/topics/{topic}", "removeApp", "Removes an app from a device.", self.removeApp)
                .parameters(.environment, .query("delaySeconds", "The time until its token ends.")),
        ]
    }

    /// Activates a device. With `restoreOf` in the body, it replaces the device with that id, which is deleted.
    private func activate(_ request: OperationRequest) async throws -> Response {
        let fields = try await request.fields(AdminDeviceRequest.activation)
        let (csr, name) = (try fields.required(Member.signingRequest), try fields.value(AdminDeviceRequest.name))
        let old = try fields.value(AdminDeviceRequest.restored).map(self.replaced)
        let (id, now) = (UUID(), self.time.now)
        let (certificate, serial) = try self.activation.certificate(signingRequest: csr, device: id, now: now)
        let device = ActivatedDevice(id: id, name: name ?? old?.name, activatedAt: now, certificateSerial: serial)
        if let old {
            guard try await self.devices.restore(device, of: old.id) else { throw Self.nothingToRestore }
            self.forget(old.id)
        } else {
            try await self.devices.activate(device)
        }
        return try self.response(.created, id, certificate)
    }

    private func replaced(_ text: String) throws -> ActivatedDevice {
        guard let device = UUID(uuidString: text).flatMap(self.devices.device) else { throw Self.nothingToRestore }
        return device
    }

    private static let nothingToRestore = RequestError.noSuch("device", at: "restoreOf")

    /// Issues a new certificate to a reinstalled device. Its earlier tokens become invalid, and its messages are
    /// discarded.
    private func reinstall(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        let fields = try await request.fields(AdminDeviceRequest.reinstallation)
        let csr = try fields.required(Member.signingRequest)
        guard self.devices.device(id) != nil else { throw RequestError.noSuch("device") }
        let now = self.time.now
        let (certificate, serial) = try self.activation.certificate(signingRequest: csr, device: id, now: now)
        guard try await self.devices.reinstall(id, certificateSerial: serial, now: now) != nil else {
            throw RequestError.noSuch("device")
        }
        self.forget(id)
        return try self.response(.ok, id, certificate)
    }

    /// Closes the connections of a device, and responds with their number. The device may reconnect immediately.
    private func disconnect(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        guard self.devices.device(id) != nil else { throw RequestError.noSuch("device") }
        return try .json(["connections": self.close(id)])
    }

    /// Revokes the certificate of a device. Its tokens stay valid.
    private func revoke(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        guard try await self.devices.revoke(id, now: self.time.now) else { throw RequestError.noSuch("device") }
        _ = self.close(id)
        return .noContent
    }

    /// Deletes a device. Its tokens become invalid and its messages are discarded.
    private func delete(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        guard try await self.devices.delete(id, now: self.time.now) else { throw RequestError.noSuch("device") }
        self.forget(id)
        return .noContent
    }

    /// Removes an app from a device in the environment that the query names, or in all environments if it names none.
    private func removeApp(_ request: OperationRequest) async throws -> Response {
        let id = try request.deviceID()
        let wanted = try request.environment()
        let delay = try request.number("delaySeconds", in: 0...Self.maximumDelay) ?? 0
        guard self.devices.device(id) != nil else { throw RequestError.noSuch("device") }
        var wasThere = false
        if let topic = request.topic("topic") {
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
        guard wasThere else { throw RequestError.noSuch("topic", by: "name on this device", at: "topic") }
        return .noContent
    }

    private func response(_ status: HTTPResponse.Status, _ id: UUID, _ certificate: String) throws -> Response {
        let members = [
            "deviceId": id.uuidString,
            "certificate": certificate,
            "deviceAuthority": self.activation.deviceAuthorityPEM,
            "authority": self.activation.authorityPEM,
        ]
        return try .json(members, status: status)
    }

    private func forget(_ id: UUID) { for core in self.environments { core.router.removed(nil, from: id) } }

    private func close(_ id: UUID) -> Int { self.environments.count { $0.router.close(id) } }
}
