import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// Broadcasts to the devices that follow a channel (APNs reference 4), on a manual clock.
@Suite(.timeLimit(.patience)) struct ChannelRoutingTests {
    let time = ManualTime()

    @Test func aConnectedFollowerGetsTheBroadcastWithoutNamingItsTopic() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            #expect(core.router.follow(try Self.channel(), device.session))
            #expect(try await Self.broadcast("b1", core, keptFor: nil))
            #expect(device.link.messages.map(\.notification.id) == ["b1"])
            #expect(device.link.messages.first?.channel == (try Self.channel()))
        }
    }

    @Test func whoDoesNotFollowGetsNothing() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            #expect(try await Self.broadcast("b1", core, keptFor: nil))
            #expect(device.link.messages.isEmpty)
        }
    }

    @Test func ofWhatAStoringChannelSentWhileTheDeviceWasAwayTheNewestComes() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            #expect(core.router.follow(try Self.channel(), device.session))
            try await core.router.flush()
            device.disconnect(core)
            #expect(try await Self.broadcast("b1", core, keptFor: .seconds(3600)))
            #expect(try await Self.broadcast("b2", core, keptFor: .seconds(3600)))
            #expect(try await device.connect(core) == ["b2"])
            device.acknowledgeAll(core)
            device.disconnect(core)
            #expect(try await device.connect(core).isEmpty, "it has been acknowledged")
        }
    }

    @Test func aBroadcastThatExpiredOrWasNotKeptDoesNotCome() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            #expect(core.router.follow(try Self.channel(), device.session))
            try await core.router.flush()
            device.disconnect(core)
            #expect(try await Self.broadcast("b1", core, keptFor: .seconds(10)))
            self.time.advance(by: .seconds(10))
            #expect(try await device.connect(core).isEmpty)
            device.disconnect(core)
            #expect(try await Self.broadcast("b2", core, keptFor: nil))
            #expect(try await device.connect(core).isEmpty)
        }
    }

    @Test func aBroadcastThatWasNotAcknowledgedComesAgain() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            #expect(core.router.follow(try Self.channel(), device.session))
            #expect(try await Self.broadcast("b1", core, keptFor: .seconds(3600)))
            #expect(device.link.messages.count == 1)
            device.disconnect(core)
            #expect(try await device.connect(core) == ["b1"])
        }
    }

    @Test func whoUnfollowsGetsNothingMore() async throws {
        try await withCore(self.time) { core, device in
            try await device.connect(core)
            #expect(core.router.follow(try Self.channel(), device.session))
            core.router.unfollow(try Self.channel(), device.session)
            #expect(try await Self.broadcast("b1", core, keptFor: .seconds(3600)))
            #expect(device.link.messages.isEmpty)
            device.disconnect(core)
            #expect(try await device.connect(core).isEmpty)
        }
    }

    @Test func aDeviceFollowsALimitedNumberOfChannels() async throws {
        var limits = RoutingStateMachine.Limits()
        limits.channels = 1
        try await withCore(self.time, limits: limits) { core, device in
            try await device.connect(core)
            #expect(core.router.follow(try Self.channel(), device.session))
            #expect(!core.router.follow(try Self.channel("b3RoZXI="), device.session))
        }
    }

    private static func channel(_ id: String = "dGVzdC1jaGFubmVsLTAx") throws -> ChannelName {
        ChannelName(bundleID: try #require(Topic(Vectors.bundleID)), id: id)
    }

    /// Submits a broadcast and returns whether it was accepted.
    private static func broadcast(_ id: String, _ core: TestCore, keptFor time: Duration?) async throws -> Bool {
        let channel = try Self.channel()
        let notification = PushNotification(
            id: id,
            topic: channel.topic,
            pushType: .liveactivity,
            priority: .immediate,
            expiration: time.map { .at(seconds: core.time.now.advanced(by: $0).seconds) } ?? .immediate,
            payload: ByteBuffer(string: #"{"aps":{"event":"update"}}"#)
        )
        let policy: ChannelPolicy = time == nil ? .nothing : .newest
        let broadcast = AcceptedBroadcast(channel: channel, policy: policy, notification: notification)
        let isAccepted = await withCheckedContinuation { continuation in
            let owner = SingleSubmission { continuation.resume(returning: $0) }
            core.router.submit(broadcast, owner: owner, ticket: 0)
        }
        try await core.router.flush()
        return isAccepted
    }
}
