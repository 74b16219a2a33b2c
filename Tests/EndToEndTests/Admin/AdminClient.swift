import Foundation
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTesting
import Testing

/// Helpers for tests of the admin API.
extension RunningGateway {
    /// Activates a device with the vectors' key.
    func add(name: String = "test") async throws -> DeviceIdentity {
        let response = try await self.admin.post(
            "/v1/devices",
            ["csr": .string(DeviceVectors.signingRequest), "name": .string(name)]
        )
        #expect(response.status == 201)
        return DeviceVectors.identity(response)
    }

    @discardableResult
    func withDevice<Value: Sendable>(
        _ identity: DeviceIdentity,
        _ time: any TimeSource,
        _ body: @escaping @Sendable (Device) async throws -> Value
    ) async throws -> Value {
        try await withDeviceConnected(to: self.addresses.main.deviceLink, identity, time: time, body)
    }

    /// Pushes payload P; the status of the response.
    func pushStatus(_ token: String, id: String? = nil, time: any TimeSource) async throws -> Int {
        let key = try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.privateKey)
        var providerToken = ProviderTokenSigner(key: key)
        var headers = [
            ("apns-topic", Vectors.bundleID), ("authorization", "bearer \(try providerToken.text(now: time.now))"),
        ]
        if let id { headers.append(("apns-id", id)) }
        return try await PushClient.with(self) { [headers] client in
            try await client.send(path: "/3/device/\(token)", headers: headers, body: Data(Vectors.payload.utf8)).status
        }
    }

    /// Waits until no device has a message that it has not acknowledged, and the gateway keeps none.
    func untilAcknowledged() async throws {
        try await eventually {
            let environments = try await self.admin.get("/v1/status").json["environments"].elements
            return environments.allSatisfy { $0["unacknowledged"] == 0 && $0["stored"] == 0 }
        }
    }

    /// Oldest first.
    func eventNames(device: String) async throws -> [String] {
        try await self.admin.get("/v1/events?device=\(device)&after=0&limit=1000").json["events"].elements
            .compactMap { $0["name"].stringValue }
    }

    /// Waits until the device is connected, or is not.
    func isOnline(_ identity: DeviceIdentity, _ wanted: Bool) async throws {
        while true {
            let shown = try await self.admin.get("/v1/devices/\(identity.deviceID)").json
            if shown["connections"].elements.contains(where: { $0["online"] == true }) == wanted { return }
            try Task.checkCancellation()
        }
    }
}
