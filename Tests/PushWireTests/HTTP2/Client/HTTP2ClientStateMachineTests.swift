import NIOCore
import PushTesting
import PushTypes
import Testing

@testable import PushWire

@Suite struct HTTP2ClientStateMachineTests {
    @Test func theFirstFramesArePrefaceAndSettings() {
        let harness = ClientHarness(settings: nil)
        #expect(
            ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
                == harness.stateMachine.output.getSlice(at: 0, length: 24)
        )
        #expect(harness.frames().map(\.type) == [.settings, .windowUpdate])
    }

    @Test func nothingIsSentBeforeTheSettingsOfTheService() {
        let harness = ClientHarness(settings: nil)
        #expect(harness.stateMachine.freeStreams == 0)
        harness.settings([(.maximumConcurrentStreams, 1)])
        #expect(harness.stateMachine.freeStreams == 1)
        #expect(harness.frames().last == PeerFrame(type: .settings, flags: .acknowledgement, streamID: 0, content: []))
    }

    @Test func aPushIsHeadersAndOneDataFrame() {
        let harness = ClientHarness()
        harness.send()
        let frames = harness.frames()
        #expect(frames.map(\.type) == [.headers, .data])
        #expect(frames.map(\.flags) == [.endHeaders, .endStream])
        #expect(frames.map(\.streamID) == [1, 1])
        #expect(frames.last?.content == Array(Vectors.payload.utf8))
    }

    @Test func aPushWithoutPayloadEndsWithItsHeaders() {
        let harness = ClientHarness()
        harness.send(payload: "")
        #expect(harness.frames().map(\.flags) == [[.endHeaders, .endStream]])
    }

    @Test func aResponseEndsItsPush() throws {
        let harness = ClientHarness()
        harness.send(2)
        harness.respond(3, headers: [("apns-id", "ID-3"), ("apns-unique-id", "U")])
        guard case .response(ticket: 1, let response) = try #require(harness.events.last) else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(response == HTTP2Response(head: ResponseHead(status: 200, id: "ID-3", uniqueID: "U")))
        #expect(harness.stateMachine.openStreams == 1)
    }

    @Test func aRejectionHasItsBody() throws {
        let harness = ClientHarness()
        harness.send()
        let body = #"{"reason":"Unregistered","timestamp":1}"#
        harness.respond(1, status: 410, headers: [("apns-id", "I")], body: body)
        guard case .response(ticket: 0, let response) = try #require(harness.events.last) else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(response == HTTP2Response(head: ResponseHead(status: 410, id: "I"), body: Array(body.utf8)))
    }

    @Test func aRequestThatIsNoPushHasItsResponseWithIdAndBody() throws {
        let harness = ClientHarness()
        let body = #"{"message-storage-policy":0}"#
        let request = ServiceRequest("POST", "/1/apps/com.example.MyApp/channels", body: ByteBuffer(string: body))
        harness.stateMachine.send(request, ticket: 7, now: harness.now)
        #expect(harness.frames().map(\.type) == [.headers, .data])
        let headers = [("apns-request-id", "R"), ("apns-channel-id", "C")]
        harness.respond(1, status: 201, headers: headers, body: "[]")
        guard case .response(ticket: 7, let response) = try #require(harness.events.last) else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(response.head == ResponseHead(status: 201, id: "R", uniqueID: "C"))
        #expect(response.body == Array("[]".utf8))
    }

    @Test func aLongBodyIsReadOnlyWhereItIsAllowed() {
        let (usual, long) = (ClientHarness(), ClientHarness { $0.maximumResponseBody = 100_000 })
        let body = String(repeating: "x", count: 16_000)
        for harness in [usual, long] {
            harness.stateMachine.send(ServiceRequest("GET", "/"), ticket: 0, now: harness.now)
            harness.respond(1, body: body)
        }
        #expect(long.endings == [0: "response 200"])
        guard case .response(_, let response)? = usual.events.last else { return }
        #expect(response.body.count == 4096)
    }

    @Test func roomForLongBodiesIsAnnounced() throws {
        var limits = HTTP2ClientLimits()
        limits.maximumResponseBody = 100_000
        let harness = ClientHarness(limits: limits, settings: nil)
        let settings = try #require(harness.frames().first)
        // INITIAL_WINDOW_SIZE is 4.
        #expect(settings.content.suffix(6) == [0, 4, 0, 1, 0x86, 0xa0])
    }

    @Test func aResponseSplitByteByByteIsTheSame() {
        let harness = ClientHarness()
        harness.send()
        for byte in harness.responseBytes(1, status: 400, body: #"{"reason":"BadTopic"}"#) { harness.receive([byte]) }
        #expect(harness.endings == [0: "response 400"])
    }

    @Test func aResponseInContinuationsPaddedAndWithPriorityIsTheSame() {
        let harness = ClientHarness()
        harness.send()
        let block = harness.block([(":status", "200"), ("apns-id", "I")])
        harness.receive { buffer in
            buffer.write(
                FrameHeader(
                    length: 1 + 5 + 1 + 2,
                    type: .headers,
                    flags: [.padded, .priority, .endStream],
                    streamID: 1
                )
            )
            buffer.writeBytes([2, 0, 0, 0, 0, 16, block[0], 0, 0])
            buffer.write(FrameHeader(length: 0, type: .continuation, streamID: 1))
            buffer.write(FrameHeader(length: block.count - 1, type: .continuation, flags: .endHeaders, streamID: 1))
            buffer.writeBytes(block.dropFirst())
        }
        #expect(harness.endings == [0: "response 200"])
    }

    @Test func interimResponsesAndTrailersAreNoEnd() {
        let harness = ClientHarness()
        harness.send()
        harness.receive { buffer in
            let helper = ClientHarness()
            let block = helper.block([(":status", "103")])
            buffer.write(FrameHeader(length: block.count, type: .headers, flags: .endHeaders, streamID: 1))
            buffer.writeBytes(block)
        }
        #expect(harness.endings.isEmpty)
        var bytes = harness.responseBytes(1, status: 503, body: "{}")
        // The DATA frame loses its END_STREAM; trailers end the stream.
        bytes[bytes.count - 2 - 9 + 4] = 0
        harness.receive(bytes)
        #expect(harness.endings.isEmpty)
        let trailers = harness.block([("x", "y")])
        harness.receive { buffer in
            buffer.write(
                FrameHeader(length: trailers.count, type: .headers, flags: [.endHeaders, .endStream], streamID: 1)
            )
            buffer.writeBytes(trailers)
        }
        #expect(harness.endings == [0: "response 503"])
    }

    @Test func theStreamLimitIsFollowedUpAndDown() {
        let harness = ClientHarness(settings: [(.maximumConcurrentStreams, 1)])
        harness.send(5)
        #expect(harness.stateMachine.openStreams == 1)
        harness.respond(1)
        harness.settings([(.maximumConcurrentStreams, 3)])
        harness.send(5)
        #expect(harness.stateMachine.openStreams == 3)
        harness.settings([(.maximumConcurrentStreams, 1)])
        #expect(harness.stateMachine.freeStreams == 0)
        harness.respond(3)
        harness.respond(5)
        #expect(harness.stateMachine.freeStreams == 0)
        harness.respond(7)
        #expect(harness.stateMachine.freeStreams == 1)
    }

    @Test func ourOwnLimitHoldsBesides() {
        let harness = ClientHarness { $0.maximumConcurrentStreams = 2 }
        harness.send(5)
        #expect(harness.stateMachine.openStreams == 2)
    }

    @Test func whenTheStreamIDsAreUsedUpTheConnectionDrains() {
        let harness = ClientHarness { $0.firstStreamID = 0x7fff_fffd }
        harness.send(5)
        #expect(harness.frames().filter { $0.type == .headers }.map(\.streamID) == [0x7fff_fffd, 0x7fff_ffff])
        harness.respond(0x7fff_ffff)
        #expect(harness.ending == nil)
        harness.respond(0x7fff_fffd)
        #expect(harness.ending == .some(nil))
        #expect(harness.endings == [0: "response 200", 1: "response 200"])
    }

    @Test func drainingWaitsForTheResponses() {
        let harness = ClientHarness()
        harness.send(2)
        harness.stateMachine.drain(now: harness.now)
        #expect(harness.stateMachine.freeStreams == 0)
        harness.respond(1)
        harness.respond(3)
        #expect(harness.ending == .some(nil))
        #expect(harness.frames().last?.type == .goAway)
    }

    @Test func headersThatTheServiceDoesNotTakeAreNotSent() {
        let harness = ClientHarness(settings: [(.maximumHeaderListSize, 100)])
        harness.send()
        #expect(harness.endings == [0: "not processed"])
        #expect(harness.frames().isEmpty)
    }

    @Test func anIDWithAControlCharacterIsNotSent() {
        let harness = ClientHarness()
        harness.stateMachine.send(Vectors.push(id: "a\r\nb"), ticket: 0, now: harness.now)
        harness.stateMachine.send(Vectors.push(collapseID: "\u{0}"), ticket: 1, now: harness.now)
        harness.takeEvents()
        #expect(harness.endings == [0: "not processed", 1: "not processed"])
        #expect(harness.frames().isEmpty)
    }

    @Test func pingsAreAcknowledgedWithTheirData() throws {
        let harness = ClientHarness()
        harness.receive(try #require(Hexadecimal.decode("00000806000000000061706e7370696e67")))
        #expect(
            harness.frames()
                == [PeerFrame(type: .ping, flags: .acknowledgement, streamID: 0, content: Array("apnsping".utf8))]
        )
    }
}
