import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Tokens through reinstallation, restore and key rotation: old ones end at the right time.
@Suite(.timeLimit(.patience)) struct DeviceRegistryTests {
    let time = ManualTime()

    @Test func aRemovedAndReinstalledAppHasANewTokenAndEachOldOneItsOwnEnd() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            var tokens: [DeviceToken] = []
            var ends: [Timestamp] = []
            for _ in 0..<3 {
                tokens.append(try await self.token(core, device))
                self.time.advance(by: .seconds(60))
                ends.append(self.time.now)
                #expect(try await core.devices.remove(topic, from: device.id, in: .sandbox, now: self.time.now))
                self.time.advance(by: .seconds(60))
            }
            let current = try await self.token(core, device)
            #expect(Set(tokens + [current]).count == 4)
            for (token, end) in zip(tokens, ends) {
                #expect(core.devices.status(of: token, in: .sandbox) == Self.gone(token, device, topic, end))
            }
            #expect(core.devices.status(of: current, in: .sandbox) == Self.active(device, topic))
            let again = try core.reopenedDevices()
            for (token, end) in zip(tokens, ends) {
                #expect(
                    again.status(of: token, in: .sandbox) == Self.gone(token, device, topic, end),
                    "also after a restart"
                )
            }
            #expect(again.status(of: current, in: .sandbox) == Self.active(device, topic))
        }
    }

    @Test func afterAKeyRotationTheOldTokenIsGoodUntilTheDeviceHasTheNewOne() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            let old = try await self.token(core, device)
            #expect(core.devices.minter.rotate(to: [UInt8](repeating: 2, count: 32)))
            #expect(core.devices.status(of: old, in: .sandbox) == Self.active(device, topic))
            self.time.advance(by: .seconds(60))
            let new = try await self.token(core, device)
            #expect(new != old)
            #expect(core.devices.status(of: old, in: .sandbox) == Self.gone(old, device, topic, self.time.now))
            #expect(core.devices.status(of: new, in: .sandbox) == Self.active(device, topic))
        }
    }

    @Test func aReinstalledSystemEndsAllTokensAndChangesTheBaseToken() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            let old = try await self.token(core, device)
            let epoch = try #require(core.devices.device(device.id)?.epoch)
            _ = try await core.devices.reinstall(device.id, certificateSerial: "02", now: self.time.now)
            #expect(core.devices.status(of: old, in: .sandbox) == Self.gone(old, device, topic, self.time.now))
            #expect(core.devices.device(device.id)?.epoch == epoch + 1)
            let new = try await self.token(core, device)
            #expect(core.devices.status(of: new, in: .sandbox) == Self.active(device, topic))
        }
    }

    @Test func tokensOfADeletedDeviceAreGoneSinceThen() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            let token = try await self.token(core, device)
            self.time.advance(by: .seconds(60))
            #expect(try await core.devices.delete(device.id, now: self.time.now))
            #expect(core.devices.status(of: token, in: .sandbox) == Self.gone(token, device, topic, self.time.now))
            #expect(core.devices.device(device.id) == nil)
            #expect(try await core.devices.delete(device.id, now: self.time.now) == false)
        }
    }

    @Test func aTokenOfTheOtherEnvironmentIsUnknown() async throws {
        try await withCore(self.time) { core, device in
            let token = try await self.token(core, device)
            #expect(core.devices.status(of: token, in: .production) == .unknown)
        }
    }

    private func token(_ core: TestCore, _ device: TestDevice) async throws -> DeviceToken {
        let topic = try #require(device.topics.first)
        return try #require(try await core.devices.token(topic, on: device.id, in: .sandbox, now: self.time.now))
    }

    private static func gone(_ token: DeviceToken, _ device: TestDevice, _ topic: Topic, _ since: Timestamp)
        -> TokenStatus
    {
        .unregistered(.init(token: token, device: device.id, topic: TopicHash(topic), since: since))
    }

    private static func active(_ device: TestDevice, _ topic: Topic) -> TokenStatus {
        .active(device: device.id, topic: TopicHash(topic))
    }
}
