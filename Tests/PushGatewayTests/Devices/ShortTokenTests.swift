import Foundation
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Tokens of 32 bytes, for providers that accept no others: they have the same life as sealed ones.
@Suite(.timeLimit(.patience)) struct ShortTokenTests {
    let time = ManualTime()

    @Test func aShortTokenStaysTheSameAlsoAfterARestart() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            let token = try await self.token(core, device)
            #expect(token.bytes.count == 32)
            #expect(try await self.token(core, device) == token)
            #expect(try core.devices.currentToken(TopicHash(topic), on: device.id, in: .sandbox) == token)
            let again = try core.reopenedDevices()
            for devices in [core.devices, again] {
                #expect(devices.status(of: token, in: .sandbox) == .active(device: device.id, topic: TopicHash(topic)))
                #expect(devices.status(of: token, in: .production) == .unknown)
            }
            let made = try #require(DeviceToken(bytes: [UInt8](repeating: 7, count: 32)))
            #expect(again.status(of: made, in: .sandbox) == .unknown)
        }
    }

    @Test func appsEnvironmentsAndInstallationsHaveTokensOfTheirOwn() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            var tokens = [try await self.token(core, device)]
            tokens.append(try await self.token(core, device, in: .production))
            tokens.append(try await self.token(core, device, topic: device.topics.last))
            self.time.advance(by: .seconds(60))
            #expect(try await core.devices.remove(topic, from: device.id, in: .sandbox, now: self.time.now))
            tokens.append(try await self.token(core, device))
            #expect(Set(tokens).count == 4)
            let first = try #require(tokens.first)
            for devices in [core.devices, try core.reopenedDevices()] {
                let gone = TokenStatus.unregistered(
                    .init(token: first, device: device.id, topic: TopicHash(topic), since: self.time.now)
                )
                #expect(devices.status(of: first, in: .sandbox) == gone)
            }
        }
    }

    @Test func anotherLengthIsAnotherTokenAndTheOldOneIsGone() async throws {
        try await withCore(self.time) { core, device in
            let topic = try #require(device.topics.first)
            let sealed = try #require(
                try await core.devices.token(topic, on: device.id, in: .sandbox, now: self.time.now)
            )
            #expect(sealed.bytes.count > 32)
            self.time.advance(by: .seconds(60))
            let short = try await self.token(core, device)
            let gone = TokenStatus.unregistered(
                .init(token: sealed, device: device.id, topic: TopicHash(topic), since: self.time.now)
            )
            #expect(core.devices.status(of: sealed, in: .sandbox) == gone)
            self.time.advance(by: .seconds(60))
            _ = try await core.devices.token(topic, on: device.id, in: .sandbox, now: self.time.now)
            guard case .unregistered = core.devices.status(of: short, in: .sandbox) else {
                Issue.record("the short token is still good")
                return
            }
        }
    }

    @Test func aRotatedKeyGivesANewShortToken() async throws {
        try await withCore(self.time) { core, device in
            let old = try await self.token(core, device)
            #expect(core.devices.minter.rotate(to: [UInt8](repeating: 2, count: 32)))
            let active = core.devices.status(of: old, in: .sandbox)
            self.time.advance(by: .seconds(60))
            let new = try await self.token(core, device)
            #expect(new != old)
            #expect(core.devices.status(of: new, in: .sandbox) == active)
            guard case .unregistered = try core.reopenedDevices().status(of: old, in: .sandbox) else {
                Issue.record("the old token is still good")
                return
            }
        }
    }

    private func token(
        _ core: TestCore,
        _ device: TestDevice,
        topic: Topic? = nil,
        in environment: PushEnvironment = .sandbox
    ) async throws -> DeviceToken {
        let wanted = try #require(topic ?? device.topics.first)
        let token = try await withCheckedThrowingContinuation { waiter in
            core.devices.token(
                wanted,
                on: device.id,
                in: environment,
                length: TokenMinter.shortLength,
                now: self.time.now
            ) { waiter.resume(with: $0) }
        }
        return try #require(token)
    }
}
