import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// What goes wrong on a connection, and the outcome that each push in flight must have (APNs reference 1.3 and 1.10).
@Suite struct ClientFaultTests {
    @Test func goAwaySparesTheStreamsAboveItsLast() {
        let harness = ClientHarness()
        harness.send(4)
        harness.goAway(last: 3, debugData: #"{"reason":"Shutdown"}"#)
        #expect(harness.endings == [2: "not processed", 3: "not processed"])
        #expect(harness.stateMachine.freeStreams == 0)
        harness.respond(1)
        harness.respond(3)
        #expect(harness.endings == [0: "response 200", 1: "response 200", 2: "not processed", 3: "not processed"])
        #expect(harness.ending == .some(nil))
    }

    @Test func goAwayThatSparesNoneWaitsForAll() {
        let harness = ClientHarness()
        harness.send(2)
        harness.goAway(last: 0x7fff_ffff)
        #expect(harness.endings.isEmpty)
        harness.respond(1)
        // The second notice says what was really taken (RFC 9113 section 6.8).
        harness.goAway(last: 1)
        #expect(harness.endings == [0: "response 200", 1: "not processed"])
        #expect(harness.ending == .some(nil))
    }

    @Test func whatIsMissingAtTheEndOfDrainingIsLost() {
        let harness = ClientHarness()
        harness.send(2)
        harness.goAway(last: 3)
        harness.respond(1)
        harness.stateMachine.timers.lastReceived = harness.now + .seconds(29)
        harness.pass(.seconds(29))
        #expect(harness.endings == [0: "response 200"])
        harness.pass(.seconds(1))
        #expect(harness.endings == [0: "response 200", 1: "lost"])
    }

    @Test func theVectorsOfGoAwayAreRead() throws {
        let harness = ClientHarness()
        let hex =
            "00002e07000000000000000000000000007b22726561736f6e223a22426164436572746966696361746545"
            + "6e7669726f6e6d656e74227d"
        harness.receive(try #require(Hexadecimal.decode(hex)))
        guard case .draining(let goAway?) = try #require(harness.events.dropFirst().first) else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(goAway.debugData == #"{"reason":"BadCertificateEnvironment"}"#)
        #expect(harness.ending == .some(nil))
    }

    @Test(arguments: HTTP2ErrorCode.allCases)
    func aResetOfEveryCodeEndsItsPushOnly(code: HTTP2ErrorCode) {
        let harness = ClientHarness()
        harness.send(2)
        harness.reset(1, code.rawValue)
        #expect(harness.endings == [0: code == .refusedStream ? "not processed" : "lost"])
        harness.respond(3)
        #expect(harness.endings[1] == "response 200")
        #expect(harness.ending == nil)
    }

    @Test func aResetAfterTheStatusCannotTakeItBack() {
        let harness = ClientHarness()
        harness.send()
        var bytes = harness.responseBytes(1, status: 410)
        bytes[4] = FrameFlags.endHeaders.rawValue
        harness.receive(bytes)
        harness.reset(1, 8)
        #expect(harness.endings == [0: "response 410"])
    }

    @Test func aRequestThatWasNotSentToItsEndWasNotProcessed() {
        let harness = ClientHarness(settings: [(.initialWindowSize, 0)])
        harness.send(2)
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 1000) }
        harness.stateMachine.transportClosed("the cable is out")
        harness.pass(.seconds(0))
        harness.takeEvents()
        #expect(harness.endings == [0: "lost", 1: "not processed"])
    }

    @Test func aWindowHeldAtZeroEndsWithTheResponseTimeout() {
        let harness = ClientHarness(settings: [(.initialWindowSize, 0)])
        harness.send(3)
        harness.stateMachine.timers.lastReceived = harness.now + .seconds(25)
        harness.pass(.seconds(30))
        #expect(harness.endings == [0: "not processed", 1: "not processed", 2: "not processed"])
        #expect(harness.ending == nil)
    }

    /// The process stood still, and what came meanwhile has not been read when the first tick comes.
    @Test func aResponseThatCameDuringAStandstillIsInTime() {
        let harness = ClientHarness()
        harness.send(2)
        harness.pass(.hours(1), standingStill: true)
        #expect(harness.endings.isEmpty)
        harness.respond(1)
        harness.stateMachine.timers.lastReceived = harness.now
        harness.pass(.milliseconds(250))
        #expect(harness.endings == [0: "response 200", 1: "lost"])
        #expect(harness.ending == nil, "the connection goes on")
    }

    @Test func silenceAfterHalfOfTheResponsesLosesTheRest() {
        let harness = ClientHarness()
        harness.send(1000)
        for number in 0..<500 { harness.respond(UInt32(number) * 2 + 1) }
        #expect(harness.endings.count == 500)
        harness.pass(.seconds(10))
        #expect(harness.frames().last?.type == .ping)
        #expect(harness.endings.count == 500)
        harness.pass(.seconds(10))
        #expect(harness.ending == .some(.unresponsive))
        #expect(harness.endings.values.count { $0 == "lost" } == 500)
        #expect(harness.endingCounts.values.allSatisfy { $0 == 1 })
    }

    @Test func anAcknowledgedPingLeavesTheResponseTimeout() {
        let harness = ClientHarness()
        harness.send()
        harness.pass(.seconds(10))
        harness.receive { buffer in
            buffer.write(FrameHeader(length: 8, type: .ping, flags: .acknowledgement))
            buffer.writeInteger(UInt64(0))
        }
        harness.pass(.seconds(19))
        #expect(harness.endings.isEmpty)
        harness.pass(.seconds(1))
        #expect(harness.endings == [0: "lost"])
        #expect(harness.ending == nil)
        // The late reply is for nobody, and harms nothing.
        harness.respond(1)
        harness.send()
        harness.respond(3)
        #expect(harness.endings == [0: "lost", 1: "response 200"])
    }

    @Test func anIdleConnectionIsProbedAndKept() {
        let harness = ClientHarness()
        for _ in 0..<(12 * 60) {
            harness.pass(.seconds(60))
            #expect(harness.frames().map(\.type) == [.ping])
            harness.receive { buffer in
                buffer.write(FrameHeader(length: 8, type: .ping, flags: .acknowledgement))
                buffer.writeInteger(UInt64(0))
            }
        }
        #expect(harness.ending == nil)
        harness.pass(.seconds(60))
        harness.pass(.seconds(10))
        #expect(harness.ending == .some(.unresponsive))
    }

    @Test func aServiceThatNeverSpeaksIsGivenUp() {
        let harness = ClientHarness(settings: nil)
        harness.pass(.seconds(9))
        #expect(harness.ending == nil)
        harness.pass(.seconds(1))
        #expect(harness.ending == .some(.handshakeTimeout))
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{0}\u{0}",
        String(repeating: "A", count: 100),
    ])
    func aPeerThatSpeaksAnotherProtocolIsRejected(text: String) {
        let harness = ClientHarness(settings: nil)
        harness.receive(Array(text.utf8))
        guard case .some(.some(.violation)) = harness.ending else {
            Issue.record("\(String(describing: harness.ending))")
            return
        }
    }

    @Test(arguments: Self.violations.keys.sorted())
    func whatBreaksTheRulesEndsTheConnection(name: String) throws {
        let harness = ClientHarness()
        harness.send(2)
        let hex = try #require(Self.violations[name])
        harness.receive(try #require(Hexadecimal.decode(hex)))
        guard case .some(.some(.violation)) = harness.ending else {
            Issue.record("\(name): \(String(describing: harness.ending))")
            return
        }
        #expect(harness.endings == [0: "lost", 1: "lost"])
        #expect(harness.frames().last?.type == .goAway)
        // Nothing that comes after it means anything.
        harness.receive([0, 0, 0, 4, 0, 0, 0, 0, 0])
        harness.respond(1)
        #expect(harness.endingCounts == [0: 1, 1: 1])
    }

    private static let violations = [
        "frame longer than allowed": "004001" + "0000" + "00000001",
        "DATA on stream 0": "000001" + "0001" + "00000000" + "00",
        "DATA on a stream of the server": "000001" + "0001" + "00000002" + "00",
        "DATA on a stream that is not open yet": "000001" + "0001" + "00000063" + "00",
        "HEADERS that do not decode": "000001" + "0105" + "00000001" + "80",
        "HEADERS on a stream that is not open yet": "000001" + "0105" + "00000063" + "88",
        "PING inside a header block": "000001" + "0101" + "00000001" + "88" + "000008" + "0600" + "00000000"
            + "0000000000000000",
        "PUSH_PROMISE": "000005" + "0504" + "00000001" + "0000000288",
        "ENABLE_PUSH": "000006" + "0400" + "00000000" + "000200000001",
        "INITIAL_WINDOW_SIZE too large": "000006" + "0400" + "00000000" + "000480000000",
        "MAX_FRAME_SIZE too small": "000006" + "0400" + "00000000" + "000500003fff",
        "too many settings": "0000c6" + "0400" + "00000000" + String(repeating: "555500000000", count: 33),
        "WINDOW_UPDATE of zero": "000004" + "0800" + "00000000" + "00000000",
        "WINDOW_UPDATE over the limit": "000004" + "0800" + "00000000" + "7fffffff",
        "RST_STREAM on stream 0": "000004" + "0300" + "00000000" + "00000001",
    ]

    @Test(arguments: [
        "000008" + "0600" + "00000000" + "0000000000000000", "000000" + "0400" + "00000000",
        "000000" + "0000" + "00000001", "000005" + "0200" + "00000001" + "0000000010",
        "000004" + "0800" + "00000000" + "00000001", "000000" + "fe00" + "00000000",
    ])
    func floodsEndTheConnection(frame: String) throws {
        let harness = ClientHarness()
        harness.send()
        // A reply has begun, so that DATA frames may come.
        var bytes = harness.responseBytes(1, status: 500)
        bytes[4] = FrameFlags.endHeaders.rawValue
        harness.receive(bytes)
        let flood = try #require(Hexadecimal.decode(String(repeating: frame, count: 11_000)))
        harness.receive(flood)
        #expect(harness.ending == .some(.violation(.enhanceYourCalm, "too many idle frames")))
    }

    /// A change of all windows is as many idle frames as it takes work. One that changes nothing visits no stream.
    @Test(arguments: [(60_000, true), (65_535, false)] as [(UInt32, Bool)])
    func aFloodOfWindowChangesEndsTheConnection(size: UInt32, ends: Bool) {
        let harness = ClientHarness()
        harness.send(1000)
        for number in 0..<200 {
            harness.settings([(.initialWindowSize, number.isMultiple(of: 2) ? size : 65_535)])
        }
        let expected: HTTP2RequestFailure?? =
            ends ? .some(.violation(.enhanceYourCalm, "too many idle frames")) : nil
        #expect(harness.ending == expected)
    }

    @Test func aHeaderBlockWithoutEndEndsTheConnection() {
        let harness = ClientHarness()
        harness.send()
        harness.receive { buffer in
            buffer.write(FrameHeader(length: 0, type: .headers, streamID: 1))
            for _ in 0..<3 {
                buffer.write(FrameHeader(length: 16_000, type: .continuation, streamID: 1))
                buffer.writeRepeatingByte(0x88, count: 16_000)
            }
        }
        #expect(harness.ending == .some(.violation(.enhanceYourCalm, "header block too long")))
    }

    @Test func aHeaderListThatUnfoldsTooFarEndsTheConnection() {
        let harness = ClientHarness()
        harness.send()
        harness.receive { buffer in
            buffer.write(FrameHeader(length: 1000, type: .headers, flags: .endHeaders, streamID: 1))
            buffer.writeRepeatingByte(0x88, count: 1000)
        }
        #expect(harness.ending == .some(.violation(.enhanceYourCalm, "header list too long")))
    }

    @Test func aMalformedResponseEndsItsPushOnly() {
        let harness = ClientHarness()
        harness.send(3)
        harness.receive { buffer in
            // No :status; DATA before HEADERS.
            buffer.write(FrameHeader(length: 1, type: .headers, flags: [.endHeaders, .endStream], streamID: 1))
            buffer.writeInteger(UInt8(0x82))
            buffer.write(FrameHeader(length: 0, type: .data, flags: .endStream, streamID: 3))
        }
        harness.respond(5)
        #expect(harness.endings == [0: "lost", 1: "lost", 2: "response 200"])
        #expect(harness.ending == nil)
    }

    @Test func garbageNeverGivesAPushTwoEnds() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let harness = ClientHarness()
            harness.send(5)
            for _ in 0..<20 {
                harness.receiveRandomFrame(using: &generator)
                harness.send()
            }
            harness.stateMachine.transportClosed("the end")
            harness.takeEvents()
            #expect(harness.endingCounts.values.allSatisfy { $0 == 1 })
            #expect(harness.stateMachine.openStreams == 0)
        }
    }
}
