import Foundation
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct RestartTests {
    let time = ManualTime(SystemTime().now)

    @Test func aGatewayKeepsTokensAndStoredNotificationsAcrossARestart() async throws {
        try await withTemporaryDirectory { directory in
            let (identity, token) = try await withGateway(in: directory, time: self.time) { gateway in
                try await gateway.registerVectors()
                let identity = try await gateway.activate()
                let token = try await gateway.token(identity, time: self.time)
                try await gateway.push(token, time: self.time)
                return (identity, token)
            }
            try await withGateway(in: directory, time: self.time) { gateway in
                let again = try await withDeviceConnected(
                    to: gateway.addresses.main.deviceLink,
                    identity,
                    time: self.time
                ) {
                    let again = try await $0.deviceToken(for: Vectors.bundleID, timeout: .patience)
                    #expect(await $0.next()?.body == "Hi")
                    return again
                }
                #expect(again == token)
            }
        }
    }

    @Test func aDeviceComesBackByItselfAfterARestart() async throws {
        let port = try RefusingPort()
        try await withTemporaryDirectory { directory in
            let identity = try await withGateway(in: directory, time: self.time) { gateway in
                try await gateway.registerVectors()
                return try await gateway.activate()
            }
            try await withDeviceConnected(to: port.number, identity, time: self.time) { device in
                let reopen: (inout GatewayConfiguration) -> Void = {
                    $0.listeners[.sandbox]?.deviceLink.port = port.number
                }
                let token = try await withGateway(in: directory, time: self.time, configure: reopen) { _ in
                    try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
                }
                try await withGateway(in: directory, time: self.time, configure: reopen) { gateway in
                    try await gateway.push(token, time: self.time)
                    #expect(await device.next()?.body == "Hi")
                }
            }
        }
        withExtendedLifetime(port) {}
    }
}

extension RunningGateway {
    func activate() async throws -> DeviceIdentity {
        try await DeviceActivation(adminURL: "http://127.0.0.1:\(self.addresses.admin)", timeout: .patience)
            .activate(name: "test")
    }

    func token(_ identity: DeviceIdentity, time: any TimeSource) async throws -> String {
        try await withDeviceConnected(to: self.addresses.main.deviceLink, identity, time: time) {
            try await $0.deviceToken(for: Vectors.bundleID, timeout: .patience)
        }
    }

    /// Pushes payload P and expects it to be accepted.
    func push(_ token: String, time: any TimeSource) async throws {
        let key = try ProviderKey(teamID: Vectors.teamID, keyID: Vectors.keyID, pem: Vectors.privateKey)
        var providerToken = ProviderTokenSigner(key: key)
        let authorization = "bearer \(try providerToken.text(now: time.now))"
        let answer = try await PushClient.with(self) { client in
            try await client.send(
                path: "/3/device/\(token)",
                headers: [("apns-topic", Vectors.bundleID), ("authorization", authorization)],
                body: Data(Vectors.payload.utf8)
            )
        }
        #expect(answer.status == 200)
    }
}
