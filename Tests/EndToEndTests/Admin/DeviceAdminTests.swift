import Foundation
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Testing

/// Devices in the admin API.
@Suite(.timeLimit(.patience)) struct DeviceAdminTests {
    let time = ManualTime(SystemTime().now)

    @Test func devicesAreListedInPagesAndByFilter() async throws {
        try await self.withGateway { gateway in
            var ids: [String] = []
            for name in ["Ann's phone", "Ben's phone", "Ann's pad"] {
                ids.append(try await gateway.add(name: name).deviceID)
                self.time.advance(by: .seconds(1))
            }
            let first = try await gateway.admin.get("/v1/devices?limit=2").json
            #expect(first["devices"].elements.map { $0["deviceId"].stringValue } == Array(ids.prefix(2)))
            #expect(first["next"].stringValue == ids[1])
            let second = try await gateway.admin.get("/v1/devices?limit=2&after=\(ids[1])").json
            #expect(second["devices"].elements.map { $0["deviceId"].stringValue } == [ids[2]])
            #expect(second["next"] == .null)

            let named = try await gateway.admin.get("/v1/devices?name=ann%27s").json["devices"].elements
            #expect(named.map { $0["name"].stringValue } == ["Ann's phone", "Ann's pad"])
            #expect(try await gateway.admin.get("/v1/devices?online=true").json["devices"].elements.isEmpty)
            #expect(try await gateway.admin.get("/v1/devices?online=false").json["devices"].elements.count == 3)
            #expect(try await gateway.admin.get("/v1/devices?topic=a.b").json["devices"].elements.isEmpty)
        }
    }

    @Test(arguments: [
        ("limit=0", "limit"), ("limit=x", "limit"), ("after=x", "after"), ("online=maybe", "online"),
        ("after=EC1BF194-B3B2-424A-89A9-5A918A6E6B5D", "after"), ("name=", "name"),
    ])
    func anInvalidQueryIsNamed(query: String, field: String) async throws {
        try await self.withGateway { gateway in
            let response = try await gateway.admin.get("/v1/devices?\(query)")
            #expect(response.status == 400)
            #expect(response.field == field)
        }
    }

    @Test func aDeviceIsShownWithItsTokenAndItsConnections() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            try await gateway.withDevice(identity, self.time) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let shown = try await gateway.admin.get("/v1/devices/\(identity.deviceID)").json
                #expect(shown["certificateSerial"].stringValue?.isEmpty == false)
                #expect(shown["epoch"] == 0)
                let sandbox = try #require(shown["connections"].elements.first)
                #expect(sandbox["environment"] == "sandbox")
                #expect(sandbox["online"] == true)
                #expect(sandbox["active"] == true)
                let install = try #require(shown["installs"].elements.first)
                #expect(install["topic"].stringValue == Vectors.bundleID)
                #expect(install["generation"] == 1)
                #expect(install["token"].stringValue == token)
                let online = try await gateway.admin.get("/v1/devices?online=true&topic=\(Vectors.bundleID)").json
                #expect(online["devices"].elements.first?["deviceId"].stringValue == identity.deviceID)
            }
        }
    }

    @Test func aReinstallationEndsTokensSessionsAndWhatWasStored() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            let token = try await gateway.token(identity, time: self.time)
            try await gateway.isOnline(identity, false)
            try await gateway.push(token, time: self.time)
            let path = "/v1/devices/\(identity.deviceID)"
            let response = try await gateway.admin.post(
                "\(path)/reinstall",
                ["csr": .string(DeviceVectors.signingRequest)]
            )
            #expect(response.status == 200)
            let again = DeviceVectors.identity(response)
            #expect(again.deviceID == identity.deviceID)
            #expect(again.certificate != identity.certificate)
            #expect(try await gateway.pushStatus(token, time: self.time) == 410)
            #expect(try await gateway.admin.get(path).json["epoch"] == 1)

            let new = try await gateway.token(again, time: self.time)
            #expect(new != token)
            #expect(try await gateway.pushStatus(new, time: self.time) == 200)
            let names = try await gateway.eventNames(device: identity.deviceID)
            #expect(names.contains("unregistered_from_storage"))
            #expect(!names.contains("delivered_from_storage"))
        }
    }

    @Test func aRestoredDeviceIsAnotherOneAndTheOldOneIsGone() async throws {
        try await self.withGateway { gateway in
            let old = try await gateway.add(name: "phone")
            let token = try await gateway.token(old, time: self.time)
            let response = try await gateway.admin.post(
                "/v1/devices",
                ["csr": .string(DeviceVectors.signingRequest), "restoreOf": .string(old.deviceID)]
            )
            #expect(response.status == 201)
            let new = DeviceVectors.identity(response)
            #expect(new.deviceID != old.deviceID)
            #expect(try await gateway.pushStatus(token, time: self.time) == 410)
            #expect(try await gateway.admin.get("/v1/devices/\(old.deviceID)").status == 404)
            #expect(try await gateway.admin.get("/v1/devices/\(new.deviceID)").json["name"] == "phone")
            let unknown = try await gateway.admin.post(
                "/v1/devices",
                ["csr": .string(DeviceVectors.signingRequest), "restoreOf": .string(old.deviceID)]
            )
            #expect(unknown.status == 404)
            #expect(unknown.field == "restoreOf")
        }
    }

    @Test func aRevokedCertificateDoesNotConnectButItsTokensStay() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            let token = try await gateway.withDevice(identity, self.time) { device in
                let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                let revoked = try await gateway.admin.delete("/v1/devices/\(identity.deviceID)/certificate")
                #expect(revoked.status == 204)
                try await gateway.isOnline(identity, false)
                return token
            }
            try await gateway.withDevice(identity, self.time) { device in
                await #expect(throws: DeviceError.tokenTimeout(Vectors.bundleID)) {
                    try await device.deviceToken(for: Vectors.bundleID, timeout: .milliseconds(100))
                }
            }
            #expect(try await gateway.pushStatus(token, time: self.time) == 200)
            #expect(try await gateway.eventNames(device: identity.deviceID).last == "stored_offline")
        }
    }

    @Test func anEndedConnectionComesBack() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            let path = "/v1/devices/\(identity.deviceID)/disconnect"
            #expect(try await gateway.admin.post(path, [:]).json["connections"] == 0)
            try await gateway.withDevice(identity, self.time) { device in
                _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                #expect(try await gateway.admin.post(path, [:]).json["connections"] == 1)
                while try await gateway.eventNames(device: identity.deviceID).count(where: { $0 == "device_connected" })
                    < 2
                { try Task.checkCancellation() }
            }
        }
    }

    @Test func anAppIsRemovedInOneEnvironmentAndItsTokenMayEndLater() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            let token = try await gateway.token(identity, time: self.time)
            let path = "/v1/devices/\(identity.deviceID)/topics/\(Vectors.bundleID)"
            #expect(try await gateway.admin.delete("\(path)?environment=production").status == 404)
            #expect(try await gateway.admin.delete("\(path)?environment=neither").status == 400)
            #expect(try await gateway.admin.delete("\(path)?environment=sandbox&delaySeconds=60").status == 204)
            #expect(try await gateway.pushStatus(token, time: self.time) == 200, "nobody has told the service yet")
            self.time.advance(by: .seconds(61))
            #expect(try await gateway.pushStatus(token, time: self.time) == 410)
            let install = try await gateway.admin.get("/v1/devices/\(identity.deviceID)").json["installs"].elements
                .first
            #expect(install?["token"] == .null)
            #expect(install?["endedAt"].integerValue != nil)
        }
    }

    @Test func tokensOfAnOldKeyEndWhenTheirDeviceHasNewOnes() async throws {
        try await withTemporaryDirectory { directory in
            let (identity, old, new) = try await self.withGateway(in: directory) { gateway in
                let identity = try await gateway.add()
                let old = try await gateway.token(identity, time: self.time)
                let rotated = try await gateway.admin.post("/v1/token-keys", [:])
                #expect(rotated.status == 201)
                #expect(rotated.json["tokenKeyId"] == 2)
                #expect(try await gateway.pushStatus(old, time: self.time) == 200)
                let new = try await gateway.token(identity, time: self.time)
                #expect(new != old)
                #expect(try await gateway.pushStatus(old, time: self.time) == 410)
                return (identity, old, new)
            }
            try await self.withGateway(in: directory) { gateway in
                let again = try await gateway.token(identity, time: self.time)
                #expect(again == new)
                let status = try await gateway.pushStatus(old, time: self.time)
                #expect(status == 410)
            }
        }
    }

    @Test(arguments: [
        ("GET", ""), ("DELETE", ""), ("DELETE", "/certificate"), ("POST", "/disconnect"), ("GET", "/events"),
        ("DELETE", "/topics/com.example.MyApp"),
    ])
    func aDeviceThatIsNotThereIsNamed(method: String, path: String) async throws {
        try await self.withGateway { gateway in
            let id = "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D"
            let response = try await gateway.admin.call(method, "/v1/devices/\(id)\(path)", nil)
            #expect(response.code == "no_such_device")
        }
    }

    @Test func aReinstallationNeedsASigningRequest() async throws {
        try await self.withGateway { gateway in
            let identity = try await gateway.add()
            let path = "/v1/devices/\(identity.deviceID)/reinstall"
            #expect(try await gateway.admin.post(path, ["csr": "x"]).code == "invalid_csr")
            #expect(try await gateway.admin.post(path, [:]).code == "missing_field")
            #expect(try await gateway.admin.get("/v1/devices/\(identity.deviceID)").json["epoch"] == 0)
        }
    }

    @discardableResult
    private func withGateway<Value: Sendable>(
        in directory: String? = nil,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { temporary in
            try await PushTesting.withGateway(in: directory ?? temporary, time: self.time) { gateway in
                try await gateway.registerVectors()
                return try await body(gateway)
            }
        }
    }
}
