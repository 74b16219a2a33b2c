import PushDevice
import PushGateway
import PushTesting
import Testing

/// A device certificate from a gateway, and the errors on the way to it.
@Suite(.timeLimit(.patience)) struct DeviceActivationTests {
    @Test func anIdentityHasACertificateAKeyAndTheAuthority() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                let url = "http://127.0.0.1:\(gateway.addresses.admin)"
                let identity = try await DeviceActivation(adminURL: "\(url)/", timeout: .patience)
                    .activate(name: "test")
                #expect(identity.certificate.hasPrefix("-----BEGIN CERTIFICATE-----"))
                #expect(identity.privateKey.hasPrefix("-----BEGIN PRIVATE KEY-----"))
                #expect(identity.serviceAuthority == gateway.gateway.authorityPEM)
                let other = try await DeviceActivation(adminURL: url, timeout: .patience).activate()
                #expect(identity.deviceID != other.deviceID)
            }
        }
    }

    @Test func anErrorOfTheGatewayIsNamed() async throws {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                let url = "http://127.0.0.1:\(gateway.addresses.admin)/nothing"
                await #expect {
                    try await DeviceActivation(adminURL: url, timeout: .patience).activate()
                } throws: { error in
                    guard case DeviceError.activationFailed(let why) = error else { return false }
                    return why.hasPrefix("\(url) responded 404")
                }
            }
        }
    }

    @Test func aResponseThatDripsEnds() async throws {
        try await DrippingServer.run { port in
            try await withGrowingLimit { limit in
                do {
                    _ = try await DeviceActivation(adminURL: "http://127.0.0.1:\(port)", timeout: limit).activate()
                    Issue.record("there is no identity in it")
                    return true
                } catch DeviceError.activationFailed(let why) {
                    return why.contains("deadlineExceeded")
                }
            }
        }
    }

    @Test func aFailedActivationNamesTheReason() async throws {
        await #expect {
            try await DeviceActivation(adminURL: "http://127.0.0.1:1", timeout: .patience).activate()
        } throws: { error in
            guard case DeviceError.activationFailed(let why) = error else { return false }
            return why.contains("http://127.0.0.1:1")
        }
    }
}
