import NIOCore
import NIOHPACK
import PushTesting
import PushTypes
import Testing

@testable import PushWire

/// Requests in, answers out, as APNs reference 1.3, 1.8, 7.10 and 8.4 have them.
@Suite struct HTTP2ServerStateMachineTests {
    @Test func theFirstFrameIsTheVectorOfSettings() throws {
        var limits = HTTP2ServerLimits()
        limits.streams = 1
        let machine = HTTP2ServerStateMachine(limits: limits, now: .now())
        let vector = try #require(
            Hexadecimal.decode("00001e04000000000000010000100000030000000100040000ffff000500004000000600001f40")
        )
        #expect(Array(machine.output.readableBytesView).starts(with: vector))
    }

    @Test func theClientsSettingsAreConfirmed() throws {
        let harness = ServerHarness(settings: nil)
        _ = harness.frames()
        harness.receive(Array(HTTP2Constants.preface.utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
        #expect(Array(harness.stateMachine.output.readableBytesView) == Hexadecimal.decode("000000040100000000"))
    }

    @Test func thePingOfTheVectorIsAcknowledged() throws {
        let harness = ServerHarness()
        harness.receive(try #require(Hexadecimal.decode("00000806000000000061706e7370696e67")))
        let answer = Array(harness.stateMachine.output.readableBytesView)
        #expect(answer == Hexadecimal.decode("00000806010000000061706e7370696e67"))
    }

    @Test func aRequestIsWhatItsFramesSay() throws {
        let harness = ServerHarness()
        harness.headers(1)
        #expect(harness.requests.isEmpty)
        harness.data(1, Vectors.payload)
        let (stream, request) = try #require(harness.requests.first)
        #expect(stream == 1)
        #expect(request.method == "POST")
        #expect(request.path == "/3/device/\(Vectors.tokenA)")
        #expect(request.fields.topic == Vectors.bundleID)
        #expect(String(buffer: request.body) == Vectors.payload)
        #expect(request.bodyLength == Vectors.payload.utf8.count)
        #expect(harness.stateMachine.openStreams == 1)
    }

    @Test func theVectorRequestIsTakenByteByByte() throws {
        let harness = ServerHarness(settings: nil)
        let block = try #require(Hexadecimal.decode(HeaderBlockVector.hex))
        var buffer = ByteBuffer(string: HTTP2Constants.preface)
        buffer.writeSettings([(.enablePush, 0)])
        buffer.write(FrameHeader(length: block.count, type: .headers, flags: .endHeaders, streamID: 1))
        buffer.writeBytes(block)
        buffer.write(FrameHeader(length: 22, type: .data, flags: .endStream, streamID: 1))
        buffer.writeString(Vectors.payload)
        for byte in buffer.readableBytesView { harness.receive([byte]) }
        #expect(harness.requests.map(\.stream) == [1])
        #expect(harness.requests.first?.request.fields.authorization == "bearer \(Vectors.providerToken)")
        #expect(harness.requests.first.map { String(buffer: $0.request.body) } == Vectors.payload)
    }

    @Test func successIsOneHeadersFrameThatEndsTheStream() throws {
        let harness = ServerHarness()
        harness.request(1)
        harness.respond(1, .accepted(apnsID: "Ab-1", uniqueID: "U"))
        let frames = harness.frames()
        #expect(frames.map(\.type) == [.headers])
        #expect(frames.map(\.flags) == [[.endHeaders, .endStream]])
        #expect(
            try Self.decode(frames) == [":status: 200", "apns-id: Ab-1", "apns-unique-id: U"]
        )
        #expect(harness.stateMachine.openStreams == 0)
    }

    @Test func theResponseToHeadHasNoContent() throws {
        let harness = ServerHarness()
        let head = Vectors.pushHeaders.map { ($0.0, $0.0 == ":method" ? "HEAD" : $0.1) }
        harness.headers(1, head, endStream: true)
        harness.headers(3, head)
        harness.data(3, "{}")
        for stream: UInt32 in [1, 3] { harness.respond(stream, .rejected(.methodNotAllowed, apnsID: "ID")) }
        let frames = harness.frames()
        #expect(frames.map(\.type) == [.headers, .headers])
        #expect(frames.allSatisfy { $0.flags == [.endHeaders, .endStream] })
        #expect(try Self.decode(frames) == [":status: 405", "apns-id: ID", "content-type: application/json"])
        #expect(harness.stateMachine.openStreams == 0)
    }

    @Test func anErrorIsHeadersAndOneDataFrameThatEndsTheStream() throws {
        let harness = ServerHarness()
        harness.request(1)
        let since = Timestamp(milliseconds: 1_699_999_999_500)
        harness.respond(1, .rejected(.unregistered, apnsID: "ID", timestamp: since))
        let frames = harness.frames()
        #expect(frames.map(\.type) == [.headers, .data])
        #expect(frames.map(\.flags) == [.endHeaders, .endStream])
        #expect(try Self.decode(frames) == [":status: 410", "apns-id: ID", "content-type: application/json"])
        let body = try #require(frames.last?.content)
        #expect(String(decoding: body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1699999999500}"#)
    }

    @Test(arguments: Reason.allCases.map(\.status) + [200, 201, 204, 431])
    func everyStatusAndFieldCanBeRead(status: Int) throws {
        let harness = ServerHarness()
        harness.request(1)
        var answer = ProviderResponse(status: status, requestID: "R", channelID: String(repeating: "c", count: 200))
        answer.retryAfter = 900
        harness.respond(1, answer)
        #expect(
            try Self.decode(harness.frames()) == [
                ":status: \(status)", "apns-request-id: R", "apns-channel-id: \(answer.channelID ?? "")",
                "retry-after: 900",
            ]
        )
    }

    @Test func aSmallerTableOfTheClientIsConfirmedInTheNextBlock() throws {
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        let harness = ServerHarness(settings: [(.headerTableSize, 0)])
        decoder.maxDynamicTableLength = 0
        for stream: UInt32 in [1, 3] {
            harness.request(stream)
            harness.respond(stream)
            var block = ByteBuffer(bytes: harness.frames().first?.content ?? [])
            #expect((block.getInteger(at: 0, as: UInt8.self) == 0x20) == (stream == 1))
            #expect(try decoder.decodeHeaders(from: &block)[":status"] == ["200"])
        }
    }

    @Test func responsesComeInAnyOrderAndOnce() throws {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5, 7] { harness.request(stream) }
        for stream: UInt32 in [5, 1, 7, 5, 3, 3, 99] { harness.respond(stream) }
        #expect(harness.frames().map(\.streamID) == [5, 1, 7, 3])
    }

    @Test func requestsInterleaveInAnyWay() throws {
        let harness = ServerHarness()
        let streams: [UInt32] = (0..<500).map { $0 * 2 + 1 }
        for stream in streams { harness.headers(stream) }
        for stream in streams.reversed() { harness.data(stream, "\(stream / 2)") }
        #expect(harness.requests.map(\.stream) == streams.reversed())
        for (stream, request) in harness.requests { #expect(String(buffer: request.body) == "\(stream / 2)") }
    }

    @Test(arguments: [[("host", "localhost")], [(":authority", "localhost")], []])
    func theHostComesAsItLikesAndNoLengthIsNeeded(extra: [(String, String)]) throws {
        let harness = ServerHarness()
        let pseudo = Vectors.pushHeaders.filter { $0.0.hasPrefix(":") }
        let isPseudo = extra.first?.0.hasPrefix(":") == true
        let fields = isPseudo ? pseudo + extra + [("apns-id", "i")] : pseudo + [("apns-id", "i")] + extra
        harness.headers(1, fields)
        harness.data(1, "{}")
        #expect(harness.requests.first?.request.fields.id == "i")
    }

    @Test func trailersEndARequestAndMeanNothing() throws {
        let harness = ServerHarness()
        harness.headers(1)
        harness.data(1, "{}", endStream: false)
        harness.headers(1, [("apns-id", "late")], endStream: true)
        #expect(harness.requests.map(\.stream) == [1])
        #expect(harness.requests.first?.request.fields.id == nil)
    }

    @Test func aHeaderBlockMayComeInManyFramesWithPaddingAndPriority() throws {
        let harness = ServerHarness()
        let block = harness.block(Vectors.pushHeaders + [("x", String(repeating: "v", count: 5000))])
        harness.receive { buffer in
            buffer.write(
                FrameHeader(
                    length: 1 + 5 + 10 + 3,
                    type: .headers,
                    flags: [.padded, .priority, .endStream],
                    streamID: 1
                )
            )
            buffer.writeBytes([3, 0x80, 0, 0, 0, 255] + block[..<10] + [0, 0, 0])
            for byte in block[10..<20] {
                buffer.write(FrameHeader(length: 1, type: .continuation, streamID: 1))
                buffer.writeInteger(byte)
            }
            buffer.write(FrameHeader(length: block.count - 20, type: .continuation, flags: .endHeaders, streamID: 1))
            buffer.writeBytes(block[20...])
        }
        #expect(harness.requests.first?.request.path == "/3/device/\(Vectors.tokenA)")
    }

    @Test func whatHasNoMeaningHereIsIgnored() throws {
        let harness = ServerHarness()
        harness.receive { buffer in
            buffer.write(FrameHeader(length: 5, type: .priority, streamID: 9))
            buffer.writeBytes([0, 0, 0, 0, 1])
            // PRIORITY_UPDATE, an unknown type, an unknown setting.
            buffer.writeBytes([0, 0, 4, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0xfe, 0xff, 0, 0, 0, 5, 7])
            buffer.writeBytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0x55, 0x55, 0, 0, 0, 1])
        }
        harness.request(1)
        harness.respond(1)
        #expect(harness.frames().map(\.type) == [.settings, .headers])
    }

    @Test func aRequestThatTheClientTakesBackIsCancelled() throws {
        let harness = ServerHarness()
        harness.request(1)
        harness.request(3)
        harness.headers(5)
        harness.reset(1)
        harness.reset(5)
        #expect(harness.cancelled == [1])
        harness.respond(1)
        #expect(harness.frames().isEmpty)
        harness.respond(3)
        #expect(harness.frames().map(\.streamID) == [3])
        #expect(harness.stateMachine.openStreams == 0)
    }

    @Test func aStreamCanBeResetInPlaceOfAResponse() throws {
        let harness = ServerHarness()
        for stream: UInt32 in [1, 3, 5] { harness.request(stream) }
        harness.stateMachine.reset(5, .refusedStream)
        let frame = Array(harness.stateMachine.output.readableBytesView)
        #expect(frame == Hexadecimal.decode("00000403000000000500000007"))
        harness.respond(5)
        #expect(harness.frames().count == 1)
    }

    @Test func aTooLongHeaderListIsRejectedAndTheConnectionContinues() throws {
        let harness = ServerHarness()
        harness.headers(1, Vectors.pushHeaders + [("x", String(repeating: "v", count: 8000))])
        let frames = harness.frames()
        #expect(try Self.decode(frames) == [":status: 431"])
        #expect(frames.last?.words == [HTTP2ErrorCode.noError.rawValue])
        harness.data(1, "the rest of it")
        harness.request(3)
        #expect(harness.requests.map(\.stream) == [3])
        #expect(harness.frames().isEmpty)
    }

    private static func decode(_ frames: [PeerFrame]) throws -> [String] {
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        var block = ByteBuffer(bytes: try #require(frames.first { $0.type == .headers }).content)
        return try decoder.decodeHeaders(from: &block).map { "\($0.name): \($0.value)" }
    }
}
