import Foundation
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Testing

/// The device library as an app uses it, against a running gateway.
@Suite(.timeLimit(.minutes(5))) struct PushDeviceTests {
    @Test func everyTopicHasItsOwnTokenAndKeepsIt() async throws {
        try await Self.withDevice { device, _ in
            let token = try await device.deviceToken(for: Vectors.bundleID)
            let voip = try await device.deviceToken(for: "\(Vectors.bundleID).voip")
            #expect(token != voip)
            #expect(try await device.deviceToken(for: Vectors.bundleID) == token)
        }
    }

    @Test func manyCallersGetTheSameToken() async throws {
        try await Self.withDevice { device, _ in
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await device.deviceToken(for: Vectors.bundleID) } }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
        }
    }

    @Test func aTopicOfNoAppIsNamed() async throws {
        try await Self.withDevice { device, _ in
            await #expect(throws: DeviceError.topicNotRegistered("com.example.Unknown")) {
                try await device.deviceToken(for: "com.example.Unknown")
            }
        }
    }

    @Test func whatIsNoTopicIsRefusedWithoutAsking() async throws {
        try await Self.withDevice { device, _ in
            await #expect(throws: DeviceError.badTopic("com example")) {
                try await device.deviceToken(for: "com example")
            }
        }
    }

    @Test func theBaseTokenBecomesPartOfTheIdentity() async throws {
        try await Self.withDevice { device, identity in
            #expect(identity.baseToken == nil)
            _ = try await device.deviceToken(for: Vectors.bundleID)
            #expect(device.identity.baseToken != nil)
        }
    }

    @Test func aDeviceThatCannotConnectSaysSoInTime() async throws {
        let identity = try await Self.withDevice { $1 }
        // Nobody listens on port 1.
        try await withDeviceConnected(to: 1, identity, time: SystemTime()) { device in
            await #expect(throws: DeviceError.tokenTimeout(Vectors.bundleID)) {
                try await device.deviceToken(for: Vectors.bundleID, timeout: .milliseconds(50))
            }
        }
    }

    @Test func anIdentityThatIsNoneIsRefused() async throws {
        let identity = DeviceIdentity(deviceID: "x", certificate: "x", privateKey: "x", serviceAuthority: "x")
        await #expect(throws: (any Error).self) {
            try await withDeviceConnected(to: 1, identity, time: SystemTime()) {
                try await $0.deviceToken(for: Vectors.bundleID)
            }
        }
    }

    @Test func anIdentitySurvivesItsFile() async throws {
        let identity = try await Self.withDevice { $1 }
        let data = try JSONEncoder().encode(identity)
        #expect(try JSONDecoder().decode(DeviceIdentity.self, from: data) == identity)
    }

    @Test func activationSaysWhyItFailed() async throws {
        await #expect {
            try await DeviceActivation(adminURL: "http://127.0.0.1:1").activate()
        } throws: { error in
            guard case DeviceError.activationFailed(let why) = error else { return false }
            return why.contains("http://127.0.0.1:1")
        }
    }

    @discardableResult
    private static func withDevice<Value: Sendable>(
        _ body: @escaping @Sendable (Device, DeviceIdentity) async throws -> Value
    ) async throws -> Value {
        try await withTemporaryDirectory { directory in
            try await withGateway(in: directory) { gateway in
                try await gateway.registerVectors()
                let url = "http://127.0.0.1:\(gateway.addresses.admin)/"
                let identity = try await DeviceActivation(adminURL: url).activate(name: "test")
                return try await withDeviceConnected(
                    to: gateway.addresses.main.courier,
                    identity,
                    time: SystemTime()
                ) { try await body($0, identity) }
            }
        }
    }
}
