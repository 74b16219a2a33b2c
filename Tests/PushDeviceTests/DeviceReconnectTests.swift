import NIOCore
import PushDevice
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

/// What a device does after the end of a connection. No delay is waited for.
@Suite(.timeLimit(.patience)) struct DeviceReconnectTests {
    @Test func delaysGrowWithEachFailureAndShrinkAfterAConnection() async throws {
        try await ScriptedPushService.with { service in
            let base = Duration.milliseconds(1)
            let configure: @Sendable (inout DeviceConfiguration) -> Void = {
                $0.reconnectBase = base
                $0.reconnectMaximum = .seconds(3600)
            }
            try await service.withDevice(configure: configure) { tested in
                let backoff = Backoff(base: base, maximum: .seconds(3600))
                var longest = Duration.zero
                for failures in 1...20 {
                    try await service.connection().close()
                    let delay = try await tested.delay()
                    #expect(delay <= backoff.limit(afterFailures: failures))
                    longest = max(longest, delay)
                }
                // With full jitter, twenty delays below the base are as good as impossible.
                #expect(longest > base)
                let connection = try await service.acceptedConnection()
                _ = try await connection.packet(.filter)
                await connection.close()
                #expect(try await tested.delay() <= base, "it was connected")
            }
        }
    }

    @Test func theBaseTokenIsSentOnTheNextConnection() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                let first = try await service.acceptedConnection(baseToken: [9])
                _ = try await first.packet(.filter)
                #expect(tested.device.identity.baseToken == [9])
                await first.close()
                let second = try await service.connection()
                #expect(DeviceLinkConnectRequest(try await second.packet(.connect)).baseToken == [9])
            }
        }
    }

    @Test func aCallerThatWaitsGetsItsTokenOnTheNextConnection() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                async let token = tested.device.deviceToken(for: "com.example.App", timeout: .patience)
                let first = try await service.acceptedConnection()
                _ = try await first.packet(.scopedToken)
                await first.close()
                let second = try await service.acceptedConnection()
                let request = try #require(DeviceLinkTokenRequest(try await second.packet(.scopedToken)))
                second.send(DeviceLinkTokenResponse(status: 0, token: [1, 2], topic: request.topic).packet)
                #expect(try await token == "0102")
            }
        }
    }

    @Test func topicsTokensAndChannelsAreRequestedAgain() async throws {
        let hash = TopicHash(try #require(Topic("com.example.App")))
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                async let token = tested.device.deviceToken(for: "com.example.App", timeout: .patience)
                let first = try await service.acceptedConnection()
                _ = try await first.packet(.scopedToken)
                first.send(DeviceLinkTokenResponse(status: 0, token: [1], topic: hash).packet)
                #expect(try await token == "01")
                async let follow: Void = tested.device.follow(
                    channel: "AAAA",
                    of: "com.example.App",
                    timeout: .patience
                )
                _ = try await first.packet(.channel)
                first.send(DeviceLinkChannelResponse(status: .ok, topic: hash, channel: "AAAA").packet)
                try await follow
                await first.close()

                let second = try await service.acceptedConnection()
                #expect(DeviceLinkFilter(try await second.packet(.filter))?.enabled == [hash])
                #expect(DeviceLinkTokenRequest(try await second.packet(.scopedToken))?.topic == hash)
                #expect(DeviceLinkChannelRequest(try await second.packet(.channel))?.channel == "AAAA")
                // The service may have reissued the token. The message shows that the response is processed.
                second.send(DeviceLinkTokenResponse(status: 0, token: [2], topic: hash).packet)
                second.send(Self.message(hash).packet)
                for await _ in tested.device.notifications { break }
                #expect(try await tested.device.deviceToken(for: "com.example.App", timeout: .patience) == "02")
            }
        }
    }

    @Test func aStateThatChangedMeanwhileIsSentOnceConnected() async throws {
        try await ScriptedPushService.with { service in
            try await service.withDevice { tested in
                let connection = try await service.connection()
                #expect(DeviceLinkConnectRequest(try await connection.packet(.connect)).state == .active)
                tested.device.setActive(false)
                connection.accept()
                let packet = try await connection.packet(.setState)
                #expect(packet.integer(1, as: UInt8.self) == DeviceLinkState.inactive.rawValue)
                tested.device.setActive(true)
                let next = try await connection.packet(.setState)
                #expect(next.integer(1, as: UInt8.self) == DeviceLinkState.active.rawValue)
            }
        }
    }

    private static func message(_ topic: TopicHash) -> DeviceLinkMessage {
        DeviceLinkMessage(
            token: [1],
            topic: topic,
            payload: ByteBuffer(string: "{}"),
            messageID: 1,
            expiration: 0,
            sentAt: Timestamp(seconds: 1_700_000_000)
        )
    }
}
