import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// Windows in both directions (RFC 9113 section 5.2).
@Suite struct ServerFlowControlTests {
    @Test func aBodyInManyFramesIsPutTogetherAndNotKeptBeyondItsLimit() throws {
        let harness = ServerHarness()
        harness.headers(1)
        for _ in 0..<99 { harness.data(1, String(repeating: "a", count: 1000), endStream: false) }
        harness.data(1, String(repeating: "a", count: 1000))
        let request = try #require(harness.requests.first?.request)
        #expect(request.bodyLength == 100_000)
        #expect(request.body.readableBytes == ProviderRequest.maximumBody)
    }

    @Test func noBodyStallsForWantOfAWindow() throws {
        let harness = ServerHarness()
        harness.headers(1)
        var (connection, stream) = (HTTP2Constants.connectionReceiveWindow, HTTP2Constants.defaultWindow)
        for _ in 0..<300 {
            #expect(connection >= 16_384 && stream >= 16_384)
            harness.data(1, String(repeating: "a", count: 16_384), endStream: false)
            (connection, stream) = (connection - 16_384, stream - 16_384)
            for frame in harness.frames() {
                let increment = Int(try #require(frame.words.first))
                if frame.streamID == 0 { connection += increment } else { stream += increment }
            }
        }
        #expect(connection <= HTTP2Constants.connectionReceiveWindow && stream <= HTTP2Constants.defaultWindow)
        harness.data(1, "")
        #expect(harness.requests.first?.request.bodyLength == 300 * 16_384)
    }

    @Test func dataBeyondTheWindowOfAStreamEndsIt() {
        let harness = ServerHarness()
        harness.headers(1)
        harness.receive { buffer in
            for _ in 0..<5 {
                buffer.write(FrameHeader(length: 16_384, type: .data, flags: .padded, streamID: 1))
                // All of it padding, which counts too.
                buffer.writeInteger(UInt8(255))
                buffer.writeRepeatingByte(0, count: 16_383)
            }
        }
        #expect(!harness.hasFinished)
    }

    @Test func aResponseWaitsForTheWindowsAndContinuesWithThem() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 10)])
        harness.request(1)
        harness.respond(1, Self.long(25))
        #expect(harness.frames().map(\.content.count) == [Self.headLength, 10])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 5) }
        harness.receive { $0.writeSettings([(.initialWindowSize, 20)]) }
        let frames = harness.frames()
        #expect(frames.map(\.type) == [.data, .settings, .data])
        #expect(frames.map(\.content.count) == [5, 0, 10])
        #expect(frames.last?.flags == .endStream)
        #expect(harness.stateMachine.openStreams == 0)
        #expect(harness.stateMachine.unsent.byteCount == 0)
    }

    @Test func theConnectionWindowIsSharedByAllResponses() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 1 << 20)])
        for stream: UInt32 in [1, 3, 5] {
            harness.request(stream)
            harness.respond(stream, Self.long(40_000))
        }
        let sent = harness.frames().filter { $0.type == .data }
        #expect(sent.reduce(0) { $0 + $1.content.count } == HTTP2Constants.defaultWindow)
        #expect(sent.allSatisfy { $0.content.count <= FrameHeader.defaultMaximumLength })
        harness.receive { $0.writeFrame(.windowUpdate, words: 100_000) }
        let rest = harness.frames()
        #expect(rest.reduce(0) { $0 + $1.content.count } == 120_000 - HTTP2Constants.defaultWindow)
        #expect(rest.filter { $0.flags == .endStream }.map(\.streamID) == [3, 5])
    }

    @Test func aSmallResponseWithoutWindowEndsWithItsOneDataFrame() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 0)])
        harness.request(1)
        harness.respond(1, .rejected(.badDeviceToken, apnsID: "ID"))
        #expect(harness.frames().map(\.type) == [.headers])
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 100) }
        let frames = harness.frames()
        #expect(frames.map(\.flags) == [.endStream])
        #expect(String(decoding: frames[0].content, as: UTF8.self) == #"{"reason":"BadDeviceToken"}"#)
    }

    @Test func unreadResponsesAreBounded() {
        let harness = ServerHarness(settings: [(.initialWindowSize, 0)])
        for number in 0..<100 {
            harness.request(UInt32(number) * 2 + 1)
            harness.respond(UInt32(number) * 2 + 1, Self.long(100_000))
        }
        let held = harness.stateMachine.unsent.byteCount + harness.stateMachine.output.readableBytes
        #expect(held <= HTTP2ServerLimits.maximumOutput + 10_000)
        #expect(harness.resets().values.allSatisfy { $0 == .enhanceYourCalm })
        for number in 0..<100 { harness.reset(UInt32(number) * 2 + 1) }
        #expect(harness.stateMachine.unsent.byteCount == 0)
    }

    @Test func aWindowThatOverflowsEndsItsStreamOrTheConnection() {
        let harness = ServerHarness()
        harness.request(1)
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 1, words: 0x7fff_ffff) }
        #expect(harness.resets() == [1: .flowControlError])
        #expect(harness.cancelled == [1])
        harness.request(3)
        harness.receive { $0.writeFrame(.windowUpdate, streamID: 3, words: 0) }
        #expect(harness.resets() == [3: .protocolError])
        harness.receive { $0.writeFrame(.windowUpdate, words: 0x7fff_ffff) }
        #expect(harness.ending?.code == .flowControlError)
    }

    private static let headLength = 20

    private static func long(_ length: Int) -> ProviderResponse {
        ProviderResponse(status: 200, body: String(repeating: "b", count: length))
    }
}
