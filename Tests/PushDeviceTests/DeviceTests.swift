import Foundation
import PushDevice
import PushGateway
import PushSupport
import PushTesting
import Testing

/// The device library as an app uses it, against a running gateway.
@Suite(.timeLimit(.patience)) struct DeviceTests {
    @Test func everyTopicHasItsOwnTokenAndKeepsIt() async throws {
        try await Self.withDevice { device, _ in
            let token = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
            let voip = try await device.deviceToken(for: "\(Vectors.bundleID).voip", timeout: .patience)
            #expect(token != voip)
            #expect(try await device.deviceToken(for: Vectors.bundleID, timeout: .patience) == token)
        }
    }

    @Test func manyCallersGetTheSameToken() async throws {
        try await Self.withDevice { device, _ in
            let tokens = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await device.deviceToken(for: Vectors.bundleID, timeout: .patience) }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(tokens.count == 1)
        }
    }

    @Test func aTopicOfNoAppIsNamed() async throws {
        try await Self.withDevice { device, _ in
            await #expect(throws: DeviceError.topicNotRegistered("com.example.Unknown")) {
                try await device.deviceToken(for: "com.example.Unknown", timeout: .patience)
            }
        }
    }

    @Test func whatIsNoTopicIsRejectedWithoutAsking() async throws {
        try await Self.withDevice { device, _ in
            await #expect(throws: DeviceError.badTopic("com example")) {
                try await device.deviceToken(for: "com example", timeout: .patience)
            }
        }
    }

    @Test func aChannelThatDoesNotExistIsNamed() async throws {
        try await Self.withDevice { device, _ in
            await #expect(throws: DeviceError.unknownChannel("AAAA")) {
                try await device.follow(channel: "AAAA", of: Vectors.bundleID, timeout: .patience)
            }
            #expect(throws: DeviceError.badTopic("com example")) {
                try device.unfollow(channel: "AAAA", of: "com example")
            }
        }
    }

    @Test func theBaseTokenBecomesPartOfTheIdentity() async throws {
        try await Self.withDevice { device, identity in
            #expect(identity.baseToken == nil)
            _ = try await device.deviceToken(for: Vectors.bundleID, timeout: .patience)
            #expect(device.identity.baseToken != nil)
        }
    }

    @Test func aDeviceThatCannotConnectFailsInTime() async throws {
        let identity = try await Self.withDevice { $1 }
        // There is no server on port 1.
        try await withDeviceConnected(to: 1, identity, time: SystemTime()) { device in
            await #expect(throws: DeviceError.tokenTimeout(Vectors.bundleID)) {
                try await device.deviceToken(for: Vectors.bundleID, timeout: .milliseconds(50))
            }
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
                let identity = try await DeviceActivation(adminURL: url, timeout: .patience).activate(name: "test")
                return try await withDeviceConnected(
                    to: gateway.addresses.main.deviceLink,
                    identity,
                    time: SystemTime()
                ) { try await body($0, identity) }
            }
        }
    }
}
