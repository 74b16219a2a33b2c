import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushSender

@Suite struct ConnectionMachineTests {
    @Test func theFirstFramesArePrefaceAndSettings() {
        var harness = MachineHarness(settings: nil)
        #expect(
            ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == harness.machine.output.getSlice(at: 0, length: 24)
        )
        #expect(harness.frames().map(\.type) == [.settings, .windowUpdate])
    }

    @Test func nothingIsSentBeforeTheSettingsOfTheService() {
        var harness = MachineHarness(settings: nil)
        #expect(harness.machine.freeStreams == 0)
        harness.settings([(.maximumConcurrentStreams, 1)])
        #expect(harness.machine.freeStreams == 1)
        #expect(harness.frames().last == PeerFrame(type: .settings, flags: .acknowledgement, streamID: 0, content: []))
    }

    @Test func aPushIsHeadersAndOneDataFrame() {
        var harness = MachineHarness()
        harness.send()
        let frames = harness.frames()
        #expect(frames.map(\.type) == [.headers, .data])
        #expect(frames.map(\.flags) == [.endHeaders, .endStream])
        #expect(frames.map(\.streamID) == [1, 1])
        #expect(frames.last?.content == Array(Vectors.payload.utf8))
    }

    @Test func aPushWithoutPayloadEndsWithItsHeaders() {
        var harness = MachineHarness()
        harness.send(payload: "")
        #expect(harness.frames().map(\.flags) == [[.endHeaders, .endStream]])
    }

    @Test func aReplyEndsItsPush() throws {
        var harness = MachineHarness()
        harness.send(2)
        harness.reply(3, headers: [("apns-id", "ID-3"), ("apns-unique-id", "U")])
        guard case .replied(1, let reply) = try #require(harness.events.last) else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(reply == HTTP2Response(head: ResponseHead(status: 200, id: "ID-3", uniqueID: "U")))
        #expect(harness.machine.openStreams == 1)
    }

    @Test func aRefusalBringsItsBody() throws {
        var harness = MachineHarness()
        harness.send()
        let body = #"{"reason":"Unregistered","timestamp":1}"#
        harness.reply(1, status: 410, headers: [("apns-id", "I")], body: body)
        guard case .replied(0, let reply) = try #require(harness.events.last) else {
            Issue.record("\(harness.events)")
            return
        }
        #expect(reply == HTTP2Response(head: ResponseHead(status: 410, id: "I"), body: Array(body.utf8)))
    }

    @Test func aReplySplitByteByByteIsTheSame() {
        var harness = MachineHarness()
        harness.send()
        for byte in harness.replyBytes(1, status: 400, body: #"{"reason":"BadTopic"}"#) { harness.receive([byte]) }
        #expect(harness.endings == [0: "replied 400"])
    }

    @Test func aReplyInContinuationsPaddedAndWithPriorityIsTheSame() {
        var harness = MachineHarness()
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
        #expect(harness.endings == [0: "replied 200"])
    }

    @Test func interimRepliesAndTrailersAreNoEnd() {
        var harness = MachineHarness()
        harness.send()
        harness.receive { buffer in
            var helper = MachineHarness()
            let block = helper.block([(":status", "103")])
            buffer.write(FrameHeader(length: block.count, type: .headers, flags: .endHeaders, streamID: 1))
            buffer.writeBytes(block)
        }
        #expect(harness.endings.isEmpty)
        var bytes = harness.replyBytes(1, status: 503, body: "{}")
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
        #expect(harness.endings == [0: "replied 503"])
    }

    @Test func theStreamLimitIsFollowedUpAndDown() {
        var harness = MachineHarness(settings: [(.maximumConcurrentStreams, 1)])
        harness.send(5)
        #expect(harness.machine.openStreams == 1)
        harness.reply(1)
        harness.settings([(.maximumConcurrentStreams, 3)])
        harness.send(5)
        #expect(harness.machine.openStreams == 3)
        harness.settings([(.maximumConcurrentStreams, 1)])
        #expect(harness.machine.freeStreams == 0)
        harness.reply(3)
        harness.reply(5)
        #expect(harness.machine.freeStreams == 0)
        harness.reply(7)
        #expect(harness.machine.freeStreams == 1)
    }

    @Test func ourOwnLimitHoldsBesides() {
        var limits = HTTP2ClientLimits()
        limits.maximumConcurrentStreams = 2
        var harness = MachineHarness(limits: limits)
        harness.send(5)
        #expect(harness.machine.openStreams == 2)
    }

    @Test func whenTheStreamIDsAreUsedUpTheConnectionDrains() {
        var limits = HTTP2ClientLimits()
        limits.firstStreamID = 0x7fff_fffd
        var harness = MachineHarness(limits: limits)
        harness.send(5)
        #expect(harness.frames().filter { $0.type == .headers }.map(\.streamID) == [0x7fff_fffd, 0x7fff_ffff])
        harness.reply(0x7fff_ffff)
        #expect(harness.ending == nil)
        harness.reply(0x7fff_fffd)
        #expect(harness.ending == .some(nil))
        #expect(harness.endings == [0: "replied 200", 1: "replied 200"])
    }

    @Test func drainingWaitsForTheReplies() {
        var harness = MachineHarness()
        harness.send(2)
        harness.machine.drain(now: harness.now)
        #expect(harness.machine.freeStreams == 0)
        harness.reply(1)
        harness.reply(3)
        #expect(harness.ending == .some(nil))
        #expect(harness.frames().last?.type == .goAway)
    }

    @Test func headersThatTheServiceDoesNotTakeAreNotSent() {
        var harness = MachineHarness(settings: [(.maximumHeaderListSize, 100)])
        harness.send()
        #expect(harness.endings == [0: "not processed"])
        #expect(harness.frames().isEmpty)
    }

    @Test func anIDWithAControlCharacterIsNotSent() {
        var harness = MachineHarness()
        harness.machine.send(MachineHarness.push(id: "a\r\nb"), ticket: 0, now: harness.now)
        harness.machine.send(MachineHarness.push(collapseID: "\u{0}"), ticket: 1, now: harness.now)
        harness.machine.takeEvents(&harness.events)
        #expect(harness.endings == [0: "not processed", 1: "not processed"])
        #expect(harness.frames().isEmpty)
    }

    @Test func pingsAreAnsweredWithTheirData() throws {
        var harness = MachineHarness()
        harness.receive(try #require(Hexadecimal.decode("00000806000000000061706e7370696e67")))
        #expect(
            harness.frames()
                == [PeerFrame(type: .ping, flags: .acknowledgement, streamID: 0, content: Array("apnsping".utf8))]
        )
    }
}
