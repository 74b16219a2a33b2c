import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// The limit of concurrent streams, announced, moved and enforced (APNs reference 1.3 and 7.10 row 6).
@Suite struct ServerStreamLimitTests {
    @Test func theRaisedLimitIsTheVector() throws {
        let harness = Self.harness(streams: 1)
        harness.stateMachine.announce(streamLimit: 1000, now: harness.now)
        #expect(
            Array(harness.stateMachine.output.readableBytesView) == Hexadecimal.decode("0000060400000000000003000003e8")
        )
    }

    @Test func aBurstBeforeTheFirstSettingsAreReadIsTaken() {
        let harness = Self.harness(streams: 1, confirms: false)
        for number in 0..<100 { harness.request(UInt32(number) * 2 + 1) }
        #expect(harness.requests.count == 100)
        harness.request(201)
        #expect(harness.resets() == [201: .refusedStream])
    }

    @Test func onceConfirmedTheLimitHolds() {
        let harness = Self.harness(streams: 1)
        harness.request(1)
        harness.request(3)
        #expect(harness.resets() == [3: .refusedStream])
        #expect(harness.requests.map(\.stream) == [1])
        harness.respond(1)
        harness.request(5)
        #expect(harness.requests.map(\.stream) == [1, 5])
    }

    @Test func aRejectedRequestKeepsTheHeaderTableRight() {
        let harness = Self.harness(streams: 1)
        harness.request(1)
        harness.headers(3, Vectors.pushHeaders + [("apns-id", "remembered")])
        harness.data(3, "{}")
        harness.respond(1)
        harness.headers(5, Vectors.pushHeaders + [("apns-id", "remembered")], endStream: true)
        #expect(harness.requests.last?.request.fields.id == "remembered")
        #expect(harness.resets() == [3: .refusedStream])
    }

    @Test func aHigherLimitHoldsAtOnceALowerOneWhenConfirmed() {
        let harness = Self.harness(streams: 2)
        harness.stateMachine.announce(streamLimit: 4, now: harness.now)
        for stream: UInt32 in [1, 3, 5, 7] { harness.request(stream) }
        #expect(harness.requests.count == 4)
        harness.confirmSettings()
        harness.stateMachine.announce(streamLimit: 1, now: harness.now)
        harness.respond(1)
        harness.request(9)
        #expect(harness.requests.count == 5)
        harness.confirmSettings()
        harness.respond(3)
        harness.request(11)
        #expect(harness.requests.count == 5, "those that are open may stay, new ones must fit")
        #expect(harness.resets() == [11: .refusedStream])
    }

    @Test func aLimitThatIsNotNewIsNotAnnounced() {
        let harness = Self.harness(streams: 7)
        harness.stateMachine.announce(streamLimit: 7, now: harness.now)
        #expect(harness.frames().isEmpty)
    }

    @Test func aClientThatConfirmsNothingIsNotSentLimitsWithoutEnd() {
        let harness = Self.harness(streams: 1)
        for limit in 2..<1000 { harness.stateMachine.announce(streamLimit: limit, now: harness.now) }
        #expect(harness.frames().count == HTTP2ServerLimits.maximumUnacknowledged)
        harness.confirmSettings()
        let frames = harness.frames()
        #expect(frames.map(\.content) == [[0, 3, 0, 0, 0x03, 0xe7]], "the newest")
    }

    @Test func likeAppleAnExcessCanEndTheConnection() throws {
        let harness = Self.harness(streams: 1, excess: .endConnection)
        harness.request(1)
        harness.request(3)
        #expect(harness.hasFinished)
        let goAway = try #require(harness.frames().last)
        #expect(goAway.words.last == HTTP2ErrorCode.refusedStream.rawValue)
        let text = String(decoding: goAway.content.dropFirst(8), as: UTF8.self)
        #expect(text.contains("maximum of active streams") && text.contains("1 allowed"))
    }

    @Test func limitsOutOfRangeAreBroughtIntoIt() {
        let harness = Self.harness(streams: .max)
        #expect(harness.stateMachine.streamLimit.current == HTTP2ServerLimits.maximumStreams)
        harness.stateMachine.announce(streamLimit: -5, now: harness.now)
        #expect(harness.frames().map(\.content) == [[0, 3, 0, 0, 0, 0]])
    }

    private static func harness(
        streams: Int,
        excess: HTTP2ServerLimits.Excess = .refuseStream,
        confirms: Bool = true
    ) -> ServerHarness {
        var limits = HTTP2ServerLimits()
        limits.streams = streams
        limits.excess = excess
        return ServerHarness(limits: limits, confirms: confirms)
    }
}
