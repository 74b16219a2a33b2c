import NIOCore
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// The limit of concurrent streams, announced, moved and enforced (reference 1.3 and 7.10 row 6).
@Suite struct ServiceStreamLimitTests {
    @Test func theRaisedLimitIsTheVector() throws {
        var harness = Self.harness(streams: 1)
        harness.machine.announce(streamLimit: 1000, now: harness.now)
        #expect(Array(harness.machine.output.readableBytesView) == Hexadecimal.decode("0000060400000000000003000003e8"))
    }

    @Test func aBurstBeforeTheFirstSettingsAreReadIsTaken() {
        var harness = Self.harness(streams: 1, confirms: false)
        for number in 0..<100 { harness.request(UInt32(number) * 2 + 1) }
        #expect(harness.requests.count == 100)
        harness.request(201)
        #expect(harness.resets() == [201: .refusedStream])
    }

    @Test func onceConfirmedTheLimitHolds() {
        var harness = Self.harness(streams: 1)
        harness.request(1)
        harness.request(3)
        #expect(harness.resets() == [3: .refusedStream])
        #expect(harness.requests.map(\.stream) == [1])
        harness.answer(1)
        harness.request(5)
        #expect(harness.requests.map(\.stream) == [1, 5])
    }

    @Test func aRefusedRequestKeepsTheHeaderTableRight() {
        var harness = Self.harness(streams: 1)
        harness.request(1)
        harness.headers(3, ServiceHarness.push + [("apns-id", "remembered")])
        harness.data(3, "{}")
        harness.answer(1)
        harness.headers(5, ServiceHarness.push + [("apns-id", "remembered")], endStream: true)
        #expect(harness.requests.last?.request.fields.id == "remembered")
        #expect(harness.resets() == [3: .refusedStream])
    }

    @Test func aHigherLimitHoldsAtOnceALowerOneWhenConfirmed() {
        var harness = Self.harness(streams: 2)
        harness.machine.announce(streamLimit: 4, now: harness.now)
        for stream: UInt32 in [1, 3, 5, 7] { harness.request(stream) }
        #expect(harness.requests.count == 4)
        harness.confirmSettings()
        harness.machine.announce(streamLimit: 1, now: harness.now)
        harness.answer(1)
        harness.request(9)
        #expect(harness.requests.count == 5)
        harness.confirmSettings()
        harness.answer(3)
        harness.request(11)
        #expect(harness.requests.count == 5, "those that are open may stay, new ones must fit")
        #expect(harness.resets() == [11: .refusedStream])
    }

    @Test func aLimitThatIsNotNewIsNotAnnounced() {
        var harness = Self.harness(streams: 7)
        harness.machine.announce(streamLimit: 7, now: harness.now)
        #expect(harness.frames().isEmpty)
    }

    @Test func aClientThatConfirmsNothingIsNotSentLimitsWithoutEnd() {
        var harness = Self.harness(streams: 1)
        for limit in 2..<1000 { harness.machine.announce(streamLimit: limit, now: harness.now) }
        #expect(harness.frames().count == HTTP2ServerLimits.maximumUnacknowledged)
        harness.confirmSettings()
        let frames = harness.frames()
        #expect(frames.map(\.content) == [[0, 3, 0, 0, 0x03, 0xe7]], "the newest")
    }

    @Test func likeAppleAnExcessCanEndTheConnection() throws {
        var harness = Self.harness(streams: 1, excess: .endConnection)
        harness.request(1)
        harness.request(3)
        #expect(harness.hasFinished)
        let goAway = try #require(harness.frames().last)
        #expect(goAway.words.last == HTTP2ErrorCode.refusedStream.rawValue)
        let text = String(decoding: goAway.content.dropFirst(8), as: UTF8.self)
        #expect(text.contains("maximum of active streams") && text.contains("1 allowed"))
    }

    @Test func limitsOutOfRangeAreBroughtIntoIt() {
        var harness = Self.harness(streams: .max)
        #expect(harness.machine.streamLimit == HTTP2ServerLimits.maximumStreams)
        harness.machine.announce(streamLimit: -5, now: harness.now)
        #expect(harness.frames().map(\.content) == [[0, 3, 0, 0, 0, 0]])
    }

    private static func harness(
        streams: Int,
        excess: HTTP2ServerLimits.Excess = .refuseStream,
        confirms: Bool = true
    ) -> ServiceHarness {
        var limits = HTTP2ServerLimits()
        limits.streams = streams
        limits.excess = excess
        return ServiceHarness(limits: limits, confirms: confirms)
    }
}
