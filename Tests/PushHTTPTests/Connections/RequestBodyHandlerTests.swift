import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import PushHTTP

/// Requests that do not end in time, and responses before the end of their request.
@Suite struct RequestBodyHandlerTests {
    static let deadline = TimeAmount.seconds(30)

    /// Records what was written, and completes each write.
    private final class Peer: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private(set) var heads: [HTTPResponse] = []
        private(set) var hasClosedOutput = false

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .head(let head) = Self.unwrapOutboundIn(data) { self.heads.append(head) }
            promise?.succeed()
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard case .output = mode else { return context.close(mode: mode, promise: promise) }
            self.hasClosedOutput = true
            promise?.succeed()
        }
    }

    private func withChannel(_ body: (EmbeddedChannel, Peer) throws -> Void) throws {
        let (peer, channel) = (Peer(), EmbeddedChannel())
        try channel.pipeline.syncOperations.addHandlers([peer, RequestBodyHandler(deadline: Self.deadline)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try body(channel, peer)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    private static func begin(_ channel: EmbeddedChannel) throws {
        let head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/v1/apps/a/devices:import")
        try channel.writeInbound(HTTPRequestPart.head(head))
        channel.read()
    }

    private static func send(_ bytes: Int, _ channel: EmbeddedChannel) throws {
        try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0x20, count: bytes)))
        channel.read()
    }

    private static func respond(_ status: HTTPResponse.Status, _ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: status)))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
    }

    /// The path has no influence: before its operation is known and allowed, no request is a stream.
    @Test func aBodyHasOneDeadlineHoweverItDrips() throws {
        try self.withChannel { channel, _ in
            try Self.begin(channel)
            for _ in 0..<29 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(1))
                try Self.send(1, channel)
            }
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test(arguments: [(1, false), (1000, true)])
    func aStreamHasAMinimumRate(bytesPerSecond: Int, survives: Bool) throws {
        try self.withChannel { channel, _ in
            try Self.begin(channel)
            channel.pipeline.fireUserInboundEventTriggered(StreamedBody(minimumBytes: 16 * 1024))
            for _ in 0..<95 where channel.isActive {
                channel.embeddedEventLoop.advanceTime(by: .seconds(1))
                if channel.isActive { try Self.send(bytesPerSecond, channel) }
            }
            #expect(channel.isActive == survives)
        }
    }

    /// As long as the server processes what it has received, it reads nothing.
    @Test func timeInWhichTheServerReadsNothingDoesNotCount() throws {
        try self.withChannel { channel, _ in
            try Self.begin(channel)
            channel.pipeline.fireUserInboundEventTriggered(StreamedBody(minimumBytes: 16 * 1024))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(repeating: 0x20, count: 100)))
            channel.embeddedEventLoop.advanceTime(by: .seconds(95))
            #expect(channel.isActive)
            channel.read()
            channel.embeddedEventLoop.advanceTime(by: .seconds(95))
            #expect(!channel.isActive)
        }
    }

    @Test func anEarlyResponseIsTheLastOneAndTheRestIsDiscarded() throws {
        try self.withChannel { channel, peer in
            try Self.begin(channel)
            try Self.send(10, channel)
            #expect(try channel.readInbound(as: HTTPRequestPart.self) != nil)
            #expect(try channel.readInbound(as: HTTPRequestPart.self) != nil)
            try Self.respond(.notFound, channel)
            #expect(peer.heads.first?.headerFields[.connection] == "close")
            #expect(peer.hasClosedOutput)
            try Self.send(1000, channel)
            #expect(try channel.readInbound(as: HTTPRequestPart.self) == nil)
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    @Test func onlyALimitedRestIsDiscarded() throws {
        try self.withChannel { channel, _ in
            try Self.begin(channel)
            try Self.respond(.contentTooLarge, channel)
            for _ in 0..<8 where channel.isActive { try? Self.send(64 * 1024, channel) }
            #expect(!channel.isActive)
        }
    }

    /// The request behind it has not ended yet.
    @Test func aResponseToAWholeRequestIsNotEarly() throws {
        try self.withChannel { channel, peer in
            try Self.begin(channel)
            try channel.writeInbound(HTTPRequestPart.end(nil))
            try Self.begin(channel)
            try Self.respond(.ok, channel)
            #expect(peer.heads.first?.headerFields[.connection] == nil)
            #expect(channel.isActive && !peer.hasClosedOutput)
        }
    }
}
