import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// What a client can make the gateway do without a request that is accepted: it is counted, not timed.
@Suite struct ServerWorkTests {
    private static let refusal = ProviderResponse.rejected(.invalidProviderToken, apnsID: "ID")

    /// 990 refused requests whose bodies have no window.
    private static func blocked(_ settings: [(HTTP2Setting, UInt32)] = [(.initialWindowSize, 0)]) -> ServerHarness {
        let harness = ServerHarness(settings: settings)
        for number in 0..<990 {
            harness.headers(UInt32(number) * 2 + 1, endStream: true)
            harness.respond(UInt32(number) * 2 + 1, Self.refusal)
        }
        _ = harness.frames()
        return harness
    }

    // MARK: Windows

    @Test func anUpdateOfTheConnectionsWindowLooksAtNoStreamThatCannotGoOn() {
        let harness = Self.blocked()
        let before = harness.stateMachine.streamsVisited
        for _ in 0..<5000 { harness.receive { $0.writeFrame(.windowUpdate, words: 1) } }
        #expect(harness.stateMachine.streamsVisited == before)
        #expect(!harness.hasFinished)
        #expect(harness.frames().isEmpty)
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 77, words: 100) }
        #expect(harness.stateMachine.streamsVisited == before + 1)
        #expect(harness.frames().map(\.streamID) == [77])
    }

    @Test func updatesThatConfirmNothingAreIdleFrames() {
        let harness = Self.blocked()
        for _ in 0..<11_000 { harness.receive { $0.writeFrame(.windowUpdate, words: 1) } }
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func eachUpdateLooksAtTheStreamsThatItLetsGoOn() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 1 << 20)])
        let body = String(repeating: "b", count: 1000)
        for number in 0..<990 {
            harness.headers(UInt32(number) * 2 + 1, endStream: true)
            harness.respond(UInt32(number) * 2 + 1, ProviderResponse(status: 400, body: body))
        }
        _ = harness.frames()
        let before = harness.stateMachine.streamsVisited
        for _ in 0..<5000 { harness.receive { $0.writeFrame(.windowUpdate, words: 1) } }
        #expect(harness.stateMachine.streamsVisited - before <= 5000 + 990)
        harness.receive { $0.writeFrame(.windowUpdate, words: 1 << 20) }
        #expect(harness.stateMachine.openStreams == 0)
        #expect(harness.stateMachine.unsent.byteCount == 0)
    }

    @Test func aChangeOfAllWindowsIsPaidForByTheStreamsThatItMoves() {
        let harness = Self.blocked()
        let before = harness.stateMachine.streamsVisited
        var size: UInt32 = 0
        while !harness.hasFinished, size < 20_000 {
            size += 1
            // Taken back at once, so that nothing can be sent.
            harness.receive { $0.writeSettings([(.initialWindowSize, size), (.initialWindowSize, 0)]) }
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
        #expect(harness.stateMachine.streamsVisited - before < 300_000)
    }

    @Test func streamsThatEndWhileTheyWaitAreForgotten() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 1 << 20)])
        harness.headers(1, endStream: true)
        harness.respond(1, ProviderResponse(status: 400, body: String(repeating: "b", count: 100_000)))
        for number in 1..<900 {
            let stream = UInt32(number) * 2 + 1
            harness.headers(stream, endStream: true)
            harness.respond(stream, Self.refusal)
            harness.reset(stream)
        }
        #expect(!harness.hasFinished)
        #expect(harness.stateMachine.unsent.queueLength < 100)
        harness.receive { $0.writeFrame(.windowUpdate, words: 100_000) }
        #expect(harness.stateMachine.openStreams == 0)
    }

    // MARK: Ended streams

    /// As many are remembered as there may be; after that each takes the place of the oldest, and nothing is moved.
    @Test func aStreamThatIsResetMovesNoOther() {
        var ended = EndedStreams()
        for number in 0..<HTTP2ServerLimits.maximumEndedStreams { ended.insert(UInt32(number) * 2 + 1) }
        var (moves, place) = (0, Self.place(of: ended))
        for number in HTTP2ServerLimits.maximumEndedStreams..<20_000 {
            ended.insert(UInt32(number) * 2 + 1)
            let now = Self.place(of: ended)
            if now != place { moves += 1 }
            place = now
        }
        #expect(moves == 0)
        #expect(ended.ids.count == HTTP2ServerLimits.maximumEndedStreams)
        let newest = (20_000 - HTTP2ServerLimits.maximumEndedStreams)..<20_000
        #expect(newest.allSatisfy { ended.contains(UInt32($0) * 2 + 1) })
        #expect(!ended.contains(UInt32(newest.lowerBound) * 2 - 1))
    }

    private static func place(of ended: EndedStreams) -> UnsafeRawPointer? {
        ended.ids.withUnsafeBytes { $0.baseAddress }
    }

    // MARK: The flood budget

    @Test(arguments: [
        "000008" + "0600" + "00000000" + "0000000000000000", "000000" + "0400" + "00000000",
        "000005" + "0200" + "00000001" + "0000000010", "000000" + "0000" + "00000001",
        "000004" + "0800" + "00000000" + "00000001", "000000" + "fe00" + "00000000",
    ])
    func refusedRequestsEarnNothing(frame: String) throws {
        let harness = ServerHarness()
        harness.headers(1)
        let flood = try #require(Hexadecimal.decode(String(repeating: frame, count: 1000)))
        var sent = 0
        for number in 1...90 where !harness.hasFinished {
            harness.headers(UInt32(number) * 2 + 1, endStream: true)
            harness.respond(UInt32(number) * 2 + 1, ProviderResponse(status: 403))
            harness.receive(flood)
            sent += 1000
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
        #expect(sent <= 11_000)
    }

    @Test func refusedRequestsDoNotPayForThoseThatAreTakenBack() {
        let harness = ServerHarness()
        var stream: UInt32 = 1
        while !harness.hasFinished, stream < 60_000 {
            harness.headers(stream, endStream: true)
            harness.respond(stream, Self.refusal)
            harness.headers(stream + 2, endStream: true)
            harness.reset(stream + 2)
            stream += 4
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func refusedRequestsDoNotPayForHeaderBlocksInManyFrames() {
        let harness = ServerHarness()
        var stream: UInt32 = 1
        while !harness.hasFinished, stream < 2000 {
            let block = harness.block(Vectors.pushHeaders)
            harness.receive { buffer in
                buffer.write(FrameHeader(length: block.count, type: .headers, flags: .endStream, streamID: stream))
                buffer.writeBytes(block)
                for _ in 0..<100 { buffer.write(FrameHeader(length: 0, type: .continuation, streamID: stream)) }
                buffer.write(FrameHeader(length: 0, type: .continuation, flags: .endHeaders, streamID: stream))
            }
            harness.respond(stream, Self.refusal)
            stream += 2
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func aClientWhoseRequestsAreAllRejectedContinues() {
        let harness = ServerHarness()
        for number in 0..<30_000 {
            let stream = UInt32(number) * 2 + 1
            harness.headers(stream)
            harness.data(stream, "{}", endStream: false)
            harness.data(stream, "")
            harness.respond(stream, Self.refusal)
            harness.receive { buffer in
                buffer.writeFrame(.windowUpdate, words: 33)
                buffer.writeFrame(.windowUpdate, streamID: stream, words: 33)
            }
            harness.stateMachine.output.clear()
        }
        #expect(!harness.hasFinished)
    }

    @Test func acceptedRequestsPayForPings() {
        let harness = ServerHarness()
        for number in 0..<2000 {
            let stream = UInt32(number) * 2 + 1
            harness.headers(stream, endStream: true)
            harness.respond(stream)
            for _ in 0..<30 {
                harness.receive { buffer in
                    buffer.write(FrameHeader(length: 8, type: .ping))
                    buffer.writeInteger(UInt64(0))
                }
            }
            harness.stateMachine.output.clear()
        }
        #expect(!harness.hasFinished)
    }

    // MARK: Memory

    @Test func whatAClientMakesTheGatewayKeepIsKnown() {
        let harness = ServerHarness()
        let empty = harness.stateMachine.heldBytes
        #expect(empty < 10_000)
        let long = Vectors.pushHeaders + [("x", String(repeating: "v", count: 7000))]
        for number in 0..<500 { harness.headers(UInt32(number) * 2 + 1, long) }
        for number in 0..<500 {
            harness.data(UInt32(number) * 2 + 1, String(repeating: "b", count: 5000), endStream: false)
        }
        #expect(harness.stateMachine.heldBytes > 500 * 12_000)
        for number in 0..<250 { harness.data(UInt32(number) * 2 + 1, "") }
        for number in 250..<500 { harness.reset(UInt32(number) * 2 + 1) }
        #expect(harness.stateMachine.incomplete.heldBytes == 0)
        #expect(harness.stateMachine.heldBytes < 150_000)
    }

    @Test func requestsThatAreLateAreHeldNoLonger() {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5] { harness.headers(stream) }
        #expect(harness.stateMachine.incomplete.heldBytes > 0)
        harness.pass(.seconds(30))
        #expect(harness.resets().count == 3)
        #expect(harness.stateMachine.incomplete.heldBytes == 0)
    }
}
