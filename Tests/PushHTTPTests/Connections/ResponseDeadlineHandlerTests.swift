import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import NIOPosix
import Testing

@testable import PushHTTP

/// Clients that do not read a response in time.
@Suite struct ResponseDeadlineHandlerTests {
    static let deadline = TimeAmount.seconds(30)

    /// Keeps writes pending until they are taken.
    private final class Peer: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private(set) var pieces: [Int] = []
        private var promises: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if case .body(let bytes) = Self.unwrapOutboundIn(data) { self.pieces.append(bytes.readableBytes) }
            if let promise { self.promises.append(promise) }
        }

        func take() {
            if !self.promises.isEmpty { self.promises.removeFirst().succeed() }
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            for promise in self.promises { promise.fail(ChannelError.ioOnClosedChannel) }
            self.promises = []
            context.close(mode: mode, promise: promise)
        }
    }

    private func withChannel(_ body: (EmbeddedChannel, Peer) throws -> Void) throws {
        let peer = Peer()
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandlers([peer, ResponseDeadlineHandler(deadline: Self.deadline)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/export")
        try channel.writeInbound(HTTPRequestPart.head(head))
        try channel.writeInbound(HTTPRequestPart.end(nil))
        try body(channel, peer)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    private static func write(_ bytes: Int, to channel: EmbeddedChannel) -> EventLoopFuture<Void> {
        let buffer = ByteBuffer(repeating: 0x20, count: bytes)
        return channel.writeAndFlush(HTTPResponsePart.body(buffer))
    }

    @Test func aClientThatStopsReadingIsDisconnected() throws {
        try self.withChannel { channel, peer in
            let written = Self.write(10, to: channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
            #expect(throws: ChannelError.ioOnClosedChannel) { try written.wait() }
        }
    }

    @Test func aSlowClientHasTheTimeForEachPiece() throws {
        try self.withChannel { channel, peer in
            let written = Self.write(200 * 1024, to: channel)
            #expect(peer.pieces == [64, 64, 64, 8].map { $0 * 1024 })
            for _ in 0..<4 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(29))
                #expect(channel.isActive)
                peer.take()
            }
            try written.wait()
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            #expect(channel.isActive, "it owes nothing")
        }
    }

    @Test func aWriterWaitsUntilEverythingIsTaken() throws {
        try self.withChannel { channel, peer in
            try channel.triggerUserOutboundEvent(WrittenPartsTaken()).wait()
            _ = Self.write(100 * 1024, to: channel)
            var isTaken = false
            channel.triggerUserOutboundEvent(WrittenPartsTaken()).assumeIsolated().whenSuccess { isTaken = true }
            peer.take()
            #expect(!isTaken)
            peer.take()
            #expect(isTaken)
        }
    }

    @Test func aWriterWaitsForNoClientThatIsGone() throws {
        try self.withChannel { channel, _ in
            _ = Self.write(10, to: channel)
            let taken = channel.triggerUserOutboundEvent(WrittenPartsTaken())
            try channel.close().wait()
            try taken.wait()
        }
    }

    /// Without the bound a slow client would get megabytes at once, and nothing for minutes.
    @Test func theSocketBuffersLittleThatIsUnsent() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ResponseDeadlineHandler(deadline: Self.deadline))
                    return channel
                }
            }
        let port = try #require(server.channel.localAddress?.port)
        try await server.executeThenClose { connections in
            let client = try await ClientBootstrap(group: group).connect(host: "127.0.0.1", port: port).get()
            for try await connection in connections {
                let unsent = try await connection.getOption(.tcpOption(ResponseDeadlineHandler.unsentOption)).get()
                #expect(unsent == ResponseDeadlineHandler.maximumUnsent)
                try await connection.close()
                break
            }
            try? await client.close()
        }
    }

    /// Two pieces at once: the time for both, and that for the next.
    @Test func aFastClientGainsTime() throws {
        try self.withChannel { channel, peer in
            _ = Self.write(200 * 1024, to: channel)
            peer.take()
            peer.take()
            channel.embeddedEventLoop.advanceTime(by: .seconds(89))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }

    /// It does not matter how much a client has read, and in how many parts it was written.
    @Test(arguments: [1, 100]) func theGainIsBounded(writes: Int) throws {
        try self.withChannel { channel, peer in
            for _ in 0..<writes {
                let written = Self.write(100 * 64 * 1024 / writes, to: channel)
                for _ in 0..<100 { peer.take() }
                try written.wait()
            }
            _ = Self.write(10, to: channel)
            channel.embeddedEventLoop.advanceTime(by: .seconds(299))
            #expect(channel.isActive)
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            #expect(!channel.isActive)
        }
    }
}
