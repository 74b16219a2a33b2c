import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import PushProtocol
import PushTesting
import Testing

@testable import PushGateway

/// Frames in, frames out: what independent clients insist on (reference 7.10 row 4).
@Suite(.timeLimit(.minutes(1))) struct ProviderStreamHandlerTests {
    @Test func successIsOneHeadersFrameThatEndsTheStream() async throws {
        let channel = try await Self.channel { _ in .accepted(apnsID: "ID") }
        try await channel.writeInbound(Self.headers(endStream: false))
        try await channel.writeInbound(Self.data("{}", endStream: true))
        let frame = try await channel.waitForOutboundWrite(as: HTTP2Frame.FramePayload.self)
        guard case .headers(let headers) = frame else {
            Issue.record("no HEADERS but \(frame)")
            return
        }
        #expect(headers.endStream)
        #expect(headers.headers[":status"] == ["200"])
        #expect(headers.headers["apns-id"] == ["ID"])
        #expect(try await channel.readOutbound(as: HTTP2Frame.FramePayload.self) == nil)
    }

    @Test func anErrorIsHeadersAndOneDataFrameThatEndsTheStream() async throws {
        let since = Timestamp(milliseconds: 1_699_999_999_500)
        let channel = try await Self.channel { _ in
            .refused(.unregistered, apnsID: "ID", timestamp: since)
        }
        try await channel.writeInbound(Self.headers(endStream: true))
        let first = try await channel.waitForOutboundWrite(as: HTTP2Frame.FramePayload.self)
        let second = try await channel.waitForOutboundWrite(as: HTTP2Frame.FramePayload.self)
        guard case .headers(let headers) = first, case .data(let data) = second,
            case .byteBuffer(let body) = data.data
        else {
            Issue.record("not HEADERS and DATA but \(first), \(second)")
            return
        }
        #expect(!headers.endStream)
        #expect(headers.headers[":status"] == ["410"])
        #expect(headers.headers["content-type"] == ["application/json"])
        #expect(data.endStream)
        #expect(String(buffer: body) == #"{"reason":"Unregistered","timestamp":1699999999500}"#)
        #expect(try await channel.readOutbound(as: HTTP2Frame.FramePayload.self) == nil)
    }

    @Test func aBodyInManyFramesIsPutTogetherAndNotKeptBeyondItsLimit() async throws {
        let channel = try await Self.channel { request in
            #expect(request.bodyLength == 100_000)
            #expect(request.body.readableBytes == ProviderRequest.maximumBody)
            return ProviderAnswer.refused(.payloadTooLarge, apnsID: "ID")
        }
        try await channel.writeInbound(Self.headers(endStream: false))
        for _ in 0..<99 {
            try await channel.writeInbound(Self.data(String(repeating: "a", count: 1000), endStream: false))
        }
        try await channel.writeInbound(Self.data(String(repeating: "a", count: 1000), endStream: true))
        let frame = try await channel.waitForOutboundWrite(as: HTTP2Frame.FramePayload.self)
        guard case .headers(let headers) = frame else {
            Issue.record("no HEADERS but \(frame)")
            return
        }
        #expect(headers.headers[":status"] == ["413"])
    }

    @Test func aRequestThatNeverEndsIsClosedAtItsDeadline() async throws {
        let channel = try await Self.channel { _ in .accepted(apnsID: "ID") }
        try await channel.writeInbound(Self.headers(endStream: false))
        #expect(channel.isActive)
        await channel.testingEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }

    private static func channel(
        _ answer: @escaping @Sendable (ProviderRequest) async -> ProviderAnswer
    ) async throws -> NIOAsyncTestingChannel {
        let channel = try await NIOAsyncTestingChannel { channel in
            try channel.pipeline.syncOperations.addHandler(
                ProviderStreamHandler(deadline: .seconds(30), answer: answer)
            )
        }
        try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        return channel
    }

    private static func headers(endStream: Bool) -> HTTP2Frame.FramePayload {
        .headers(.init(headers: [":method": "POST", ":path": "/3/device/aa"], endStream: endStream))
    }

    private static func data(_ text: String, endStream: Bool) -> HTTP2Frame.FramePayload {
        .data(.init(data: .byteBuffer(ByteBuffer(string: text)), endStream: endStream))
    }
}
