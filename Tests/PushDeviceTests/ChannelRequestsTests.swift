import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushDevice

/// Followed channels, across sessions.
@Suite(.timeLimit(.patience)) struct ChannelRequestsTests {
    private let requests = ChannelRequests()

    @Test func aFollowedChannelIsRequestedOnEverySession() async throws {
        let channel = try Self.channel("one")
        self.requests.attach(self.respond(.ok))
        try await self.requests.follow(channel, timeout: .patience)
        for _ in 0..<2 {
            let log = PacketLog()
            self.requests.attach { log.add($0) }
            #expect(log.packets == [channel.packet(follows: true)])
        }
    }

    @Test func anUnfollowedChannelIsNot() async throws {
        let channel = try Self.channel("one")
        self.requests.attach(self.respond(.ok))
        try await self.requests.follow(channel, timeout: .patience)
        let (before, after) = (PacketLog(), PacketLog())
        self.requests.attach { before.add($0) }
        self.requests.unfollow(channel)
        #expect(before.packets == [channel.packet(follows: true), channel.packet(follows: false)])
        self.requests.attach { after.add($0) }
        #expect(after.packets.isEmpty)
    }

    @Test(
        arguments: [(.tooMany, .tooManyChannels), (.unknownChannel, .unknownChannel("one"))]
            as [(DeviceLinkChannelResponse.Status, DeviceError)]
    )
    func aChannelThatCannotBeFollowedIsForgotten(
        status: DeviceLinkChannelResponse.Status,
        error: DeviceError
    ) async throws {
        let channel = try Self.channel("one")
        self.requests.attach(self.respond(status))
        await #expect(throws: error) { try await self.requests.follow(channel, timeout: .patience) }
        let log = PacketLog()
        self.requests.attach { log.add($0) }
        #expect(log.packets.isEmpty)
    }

    @Test func withoutASessionTheRequestTimesOut() async throws {
        let channel = try Self.channel("one")
        await #expect(throws: DeviceError.channelTimeout("one")) {
            try await self.requests.follow(channel, timeout: .milliseconds(1))
        }
    }

    /// A session that responds to each request at once.
    private func respond(_ status: DeviceLinkChannelResponse.Status) -> @Sendable (DeviceLinkPacket) -> Void {
        { packet in
            guard let request = DeviceLinkChannelRequest(packet) else { return }
            self.requests.receive(
                DeviceLinkChannelResponse(status: status, topic: request.topic, channel: request.channel)
            )
        }
    }

    private static func channel(_ id: String) throws -> ChannelRequests.Channel {
        ChannelRequests.Channel(topic: TopicHash(try #require(Topic("com.example.App"))), id: id)
    }
}
