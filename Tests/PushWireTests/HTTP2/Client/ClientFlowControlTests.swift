import PushTesting
import Testing

@testable import PushWire

@Suite struct ClientFlowControlTests {
    private static let body = String(repeating: "x", count: 3000)

    @Test func aBodyWaitsForTheWindowOfItsStream() {
        let harness = ClientHarness(settings: [(.initialWindowSize, 1000)])
        harness.send(payload: Self.body)
        #expect(Self.data(harness) == [1000])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 500) }
        #expect(Self.data(harness) == [500])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 5000) }
        #expect(Self.data(harness) == [1500])
        harness.respond(1)
        #expect(harness.endings == [0: "response 200"])
    }

    @Test func aLargerInitialWindowSetsWaitingBodiesFree() {
        let harness = ClientHarness(settings: [(.initialWindowSize, 0)])
        harness.send(2, payload: Self.body)
        #expect(Self.data(harness) == [])
        harness.settings([(.initialWindowSize, 65_535)])
        #expect(Self.data(harness) == [3000, 3000])
    }

    @Test func aSmallerInitialWindowCanMakeAWindowNegative() {
        let harness = ClientHarness(settings: [(.initialWindowSize, 1000)])
        harness.send(payload: Self.body)
        _ = harness.frames()
        harness.settings([(.initialWindowSize, 0)])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 1000) }
        #expect(Self.data(harness) == [])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 1) }
        #expect(Self.data(harness) == [1])
    }

    @Test func anExhaustedConnectionWindowStopsNewRequests() {
        let harness = ClientHarness()
        harness.send(100, payload: Self.body)
        // 65,535 bytes are 21 bodies and a part of the next.
        #expect(harness.stateMachine.openStreams == 22)
        #expect(Self.data(harness).reduce(0, +) == 65_535)
        harness.receive { $0.writeFrame(.windowUpdate, words: 100_000) }
        #expect(Self.data(harness) == [22 * 3000 - 65_535])
        #expect(harness.stateMachine.freeStreams > 0)
    }

    @Test func framesAreNoLongerThanTheServiceTakes() {
        let harness = ClientHarness()
        harness.send(payload: String(repeating: "x", count: 40_000))
        #expect(Self.data(harness) == [16_384, 16_384, 7232])
        harness.settings([(.maximumFrameSize, 20_000)])
        harness.send(payload: String(repeating: "x", count: 25_000))
        #expect(Self.data(harness) == [20_000, 5000])
    }

    @Test func aResponseBeforeTheWholeBodyCancelsTheRest() {
        let harness = ClientHarness(settings: [(.initialWindowSize, 10)])
        harness.send(payload: Self.body)
        _ = harness.frames()
        harness.respond(1, status: 413, body: #"{"reason":"PayloadTooLarge"}"#)
        #expect(harness.endings == [0: "response 413"])
        #expect(harness.frames().map(\.type) == [.resetStream])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 5000) }
        #expect(Self.data(harness) == [])
    }

    @Test func whatTheServiceSendsIsConfirmed() {
        let harness = ClientHarness()
        let body = String(repeating: "y", count: 4000)
        for number in 0..<400 {
            harness.send()
            harness.respond(UInt32(number) * 2 + 1, status: 500, body: body)
        }
        let updates = harness.frames().filter { $0.type == .windowUpdate }
        #expect(updates.count == 3)
        #expect(harness.ending == nil)
    }

    @Test func anErrorBodyWithoutEndIsCutOff() {
        let harness = ClientHarness()
        harness.send()
        harness.respond(1, status: 500, body: String(repeating: "y", count: 16_000))
        #expect(harness.endings == [0: "response 500"])
        #expect(harness.frames().map(\.type) == [.headers, .data, .resetStream])
    }

    private static func data(_ harness: ClientHarness) -> [Int] {
        harness.frames().filter { $0.type == .data }.map(\.content.count)
    }
}
