import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// What breaks the rules ends the stream or the connection, as RFC 9113 wants it, and nothing else.
@Suite struct ServerFaultTests {
    @Test(arguments: Self.violations.keys.sorted())
    func whatConcernsTheConnectionEndsIt(name: String) throws {
        let (hex, code) = try #require(Self.violations[name])
        let harness = ServerHarness()
        harness.request(1)
        harness.headers(3)
        harness.receive(try #require(Hexadecimal.decode(hex)))
        #expect(harness.ending?.code == code)
        let goAway = try #require(harness.frames().last)
        #expect(goAway.type == .goAway)
        #expect(goAway.words.last == code.rawValue)
        // Nothing that comes after it means anything.
        harness.request(5)
        harness.respond(1)
        harness.pass(.seconds(100))
        #expect(harness.frames().isEmpty)
        #expect(harness.requests.map(\.stream) == [1])
    }

    private static let violations: [String: (String, HTTP2ErrorCode)] = [
        "frame longer than allowed": ("004001" + "0000" + "00000003", .frameSizeError),
        "request on stream 0": ("000001" + "0105" + "00000000" + "82", .protocolError),
        "request on an even stream": ("000001" + "0105" + "00000002" + "82", .protocolError),
        "HEADERS that do not decode": ("000001" + "0105" + "00000005" + "80", .compressionError),
        "HEADERS on a stream that was passed over": (
            "000003" + "0105" + "00000007" + "838784" + "000003" + "0105" + "00000005" + "838784", .streamClosed
        ),
        "DATA on stream 0": ("000001" + "0001" + "00000000" + "00", .protocolError),
        "DATA on a stream that is not open yet": ("000001" + "0001" + "00000063" + "00", .protocolError),
        "PUSH_PROMISE": ("000005" + "0504" + "00000001" + "0000000288", .protocolError),
        "ENABLE_PUSH of 2": ("000006" + "0400" + "00000000" + "000200000002", .protocolError),
        "INITIAL_WINDOW_SIZE too large": ("000006" + "0400" + "00000000" + "000480000000", .flowControlError),
        "MAX_FRAME_SIZE too small": ("000006" + "0400" + "00000000" + "000500003fff", .protocolError),
        "too many settings": (
            "0000c6" + "0400" + "00000000" + String(repeating: "555500000000", count: 33), .enhanceYourCalm
        ),
        "WINDOW_UPDATE of zero": ("000004" + "0800" + "00000000" + "00000000", .protocolError),
        "WINDOW_UPDATE on a stream that is not open yet": (
            "000004" + "0800" + "00000063" + "00000001", .protocolError
        ),
        "RST_STREAM on stream 0": ("000004" + "0300" + "00000000" + "00000001", .protocolError),
        "RST_STREAM on a stream that is not open yet": (
            "000004" + "0300" + "00000063" + "00000001", .protocolError
        ),
        "PRIORITY on stream 0": ("000005" + "0200" + "00000000" + "0000000010", .protocolError),
    ]

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{16}\u{3}\u{1}", "PRI * HTTP/2.1\r\n",
        String(repeating: "A", count: 100),
        HTTP2Constants.preface + "\0\0\u{8}\u{6}\0\0\0\0\0" + "\0\0\0\0\0\0\0\0",
        HTTP2Constants.preface + "\0\0\0\u{4}\u{1}\0\0\0\0",
    ])
    func aPeerThatSpeaksAnotherProtocolIsRejected(text: String) {
        let harness = ServerHarness(settings: nil)
        harness.receive(Array(text.utf8))
        #expect(harness.ending?.code == .protocolError)
    }

    @Test(arguments: Self.malformed)
    func aMalformedRequestEndsItsStreamOnly(headers: [(String, String)]) {
        let harness = ServerHarness()
        harness.headers(1, headers)
        #expect(harness.resets() == [1: .protocolError])
        // What follows was under way.
        harness.data(1, "{}")
        harness.request(3)
        #expect(harness.requests.map(\.stream) == [3])
        #expect(harness.resets().isEmpty)
    }

    private static let malformed: [[(String, String)]] = [
        [], [("apns-id", "1")], Vectors.pushHeaders + [("connection", "close")],
        Vectors.pushHeaders + [(":path", "/late")], Vectors.pushHeaders + [("content-length", "x")],
    ]

    @Test func aBodyOfAnotherLengthThanAnnouncedEndsItsStream() {
        let harness = ServerHarness()
        for (stream, body) in [(1, "12345"), (3, "1"), (5, "")] as [(UInt32, String)] {
            harness.headers(stream, Vectors.pushHeaders + [("content-length", "3")])
            harness.data(stream, body)
        }
        harness.headers(7, Vectors.pushHeaders + [("content-length", "3")], endStream: true)
        harness.headers(9, Vectors.pushHeaders + [("content-length", "3")])
        harness.data(9, "1", endStream: false)
        harness.headers(9, [("x", "trailers")], endStream: true)
        harness.headers(11, Vectors.pushHeaders + [("content-length", "3")])
        harness.data(11, "abc")
        #expect(harness.requests.map(\.stream) == [11])
        let resets = harness.resets()
        #expect(resets.keys.sorted() == [1, 3, 5, 7, 9])
        #expect(resets.values.allSatisfy { $0 == .protocolError })
    }

    @Test func framesAfterTheEndOfARequestEndItsStream() {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5] { harness.request(stream) }
        harness.data(1, "more")
        harness.headers(3, [("x", "y")], endStream: true)
        #expect(harness.resets() == [1: .streamClosed, 3: .streamClosed])
        #expect(harness.cancelled == [1, 3])
        harness.respond(5)
        harness.data(5, "more")
        #expect(harness.resets() == [5: .streamClosed])
        #expect(!harness.hasFinished)
    }

    @Test func trailersThatDoNotEndTheRequestAreMalformed() {
        let harness = ServerHarness()
        harness.headers(1)
        harness.headers(1, [("x", "y")])
        harness.headers(3)
        harness.headers(3, [(":path", "/")], endStream: true)
        #expect(harness.resets() == [1: .protocolError, 3: .protocolError])
        #expect(harness.requests.isEmpty)
    }

    @Test func aPriorityFrameOfWrongLengthEndsItsStream() {
        let harness = ServerHarness()
        harness.request(1)
        harness.request(3)
        harness.respond(3)
        _ = harness.frames()
        // One that is open, and one that is answered already.
        for stream: UInt8 in [1, 3] { harness.receive([0, 0, 4, 2, 0, 0, 0, 0, stream, 0, 0, 0, 0]) }
        #expect(harness.resets() == [1: .frameSizeError, 3: .frameSizeError])
        #expect(!harness.hasFinished)
    }

    @Test func aPriorityFrameOfWrongLengthOnAStreamNeverOpenedEndsTheConnection() {
        let harness = ServerHarness()
        harness.receive([0, 0, 4, 2, 0, 0, 0, 0, 9, 0, 0, 0, 0])
        #expect(harness.ending?.code == .frameSizeError)
    }

    @Test(arguments: [false, true]) func aRequestThatDependsOnItselfEndsItsStream(continues: Bool) {
        let harness = ServerHarness()
        let block = harness.block(Vectors.pushHeaders)
        harness.receive { buffer in
            let flags: FrameFlags = continues ? [.priority, .endStream] : [.priority, .endStream, .endHeaders]
            buffer.write(FrameHeader(length: 5 + block.count, type: .headers, flags: flags, streamID: 1))
            // Exclusively.
            buffer.writeBytes([0x80, 0, 0, 1, 15])
            buffer.writeBytes(block)
            if continues { buffer.write(FrameHeader(length: 0, type: .continuation, flags: .endHeaders, streamID: 1)) }
        }
        #expect(harness.resets() == [1: .protocolError])
        harness.request(3)
        #expect(harness.requests.map(\.stream) == [3])
    }

    @Test func aPriorityThatDependsOnItsOwnStreamEndsIt() {
        let harness = ServerHarness()
        harness.request(1)
        harness.request(3)
        harness.respond(3)
        _ = harness.frames()
        for stream: UInt8 in [1, 3] { harness.receive([0, 0, 5, 2, 0, 0, 0, 0, stream, 0, 0, 0, stream, 15]) }
        #expect(harness.resets() == [1: .protocolError, 3: .protocolError])
        #expect(harness.cancelled == [1])
        #expect(!harness.hasFinished)
    }

    @Test(arguments: [2, 9] as [UInt8]) func aPriorityThatDependsOnAStreamNeverOpenedEndsTheConnection(stream: UInt8) {
        let harness = ServerHarness()
        harness.receive([0, 0, 5, 2, 0, 0, 0, 0, stream, 0, 0, 0, stream, 15])
        #expect(harness.ending?.code == .protocolError)
    }

    @Test(arguments: [
        "000008" + "0600" + "00000000" + "0000000000000000", "000000" + "0400" + "00000000",
        "000000" + "0401" + "00000000", "000000" + "0000" + "00000001", "000001" + "0000" + "00000001" + "61",
        "000005" + "0200" + "00000001" + "0000000010", "000004" + "0800" + "00000000" + "00000001",
        "000000" + "fe00" + "00000000", "000008" + "0700" + "00000000" + "0000000000000000",
        "000004" + "0300" + "00000003" + "00000008",
    ])
    func floodsEndTheConnection(frame: String) throws {
        let harness = ServerHarness()
        harness.headers(1)
        harness.request(3)
        let flood = try #require(Hexadecimal.decode(String(repeating: frame, count: 11_000)))
        harness.receive(flood)
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func requestsThatAreAlwaysTakenBackEndTheConnection() {
        let harness = ServerHarness()
        var stream: UInt32 = 1
        while !harness.hasFinished, stream < 20_001 {
            harness.request(stream)
            harness.reset(stream)
            stream += 2
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
        #expect(harness.requests.count < 2500)
    }

    @Test func requestsThatAreAlwaysMalformedEndTheConnection() {
        let harness = ServerHarness()
        var stream: UInt32 = 1
        while !harness.hasFinished, stream < 20_001 {
            harness.headers(stream, [("apns-id", "1")], endStream: true)
            stream += 2
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func aClientThatWorksMayCancelForEver() {
        let harness = ServerHarness()
        for number in 0..<20_000 {
            let stream = UInt32(number) * 2 + 1
            harness.request(stream)
            if number % 2 == 0 { harness.reset(stream) } else { harness.respond(stream) }
            harness.stateMachine.output.clear()
        }
        #expect(!harness.hasFinished)
    }

    @Test func aHeaderBlockWithoutEndEndsTheConnection() {
        let harness = ServerHarness()
        harness.receive { buffer in
            buffer.write(FrameHeader(length: 0, type: .headers, streamID: 1))
            for _ in 0..<3 {
                buffer.write(FrameHeader(length: 16_000, type: .continuation, streamID: 1))
                buffer.writeRepeatingByte(0x83, count: 16_000)
            }
        }
        #expect(harness.ending?.code == .enhanceYourCalm)
    }

    @Test func aHeaderListThatExpandsTooFarIsRejectedWithLittleWork() {
        let harness = ServerHarness()
        harness.headers(1, Vectors.pushHeaders + [("x", String(repeating: "v", count: 3900))], endStream: true)
        harness.receive { buffer in
            buffer.write(FrameHeader(length: 16_000, type: .headers, flags: [.endHeaders, .endStream], streamID: 3))
            buffer.writeRepeatingByte(0xbe, count: 16_000)
        }
        #expect(harness.requests.map(\.stream) == [1])
        #expect(!harness.hasFinished)
    }

    @Test func randomFramesNeverGiveARequestTwice() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let harness = ServerHarness()
            harness.request(1)
            harness.headers(3)
            for _ in 0..<20 {
                harness.receiveRandomFrame(using: &generator)
                for (stream, _) in harness.requests { harness.respond(stream) }
                if Int.random(in: 0..<10, using: &generator) == 0 { harness.pass(.seconds(20)) }
            }
            let streams = harness.requests.map(\.stream)
            #expect(Set(streams).count == streams.count)
            #expect(harness.stateMachine.output.readableBytes < 100_000)
        }
    }

    @Test func randomBytesNeverTrap() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let harness = ServerHarness()
            for _ in 0..<10 where !harness.hasFinished {
                harness.receive((0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) })
            }
            #expect(harness.stateMachine.reader.restLength <= FrameHeader.defaultMaximumLength + FrameHeader.length)
        }
    }
}
