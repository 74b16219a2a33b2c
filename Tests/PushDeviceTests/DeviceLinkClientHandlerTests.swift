import NIOCore
import NIOEmbedded
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushDevice

@Suite(.timeLimit(.patience)) struct DeviceLinkClientHandlerTests {
    /// A connection may end between the moment at which it is open and that at which it has its handlers.
    @Test func aConnectionThatEndedBeforeItsHandlersWereAddedEndsItsEvents() async throws {
        let (events, continuation) = AsyncStream.makeStream(of: DeviceLinkClientHandler.Event.self)
        try self.addHandler(toEndedConnection: continuation)
        for await event in events { Issue.record("\(event)") }
    }

    /// A session that takes nothing for a while has room for 8 MB.
    @Test(arguments: [(200, true), (400, false)])
    func eventsThatNobodyTakesAreBounded(messages: Int, isOpen: Bool) async throws {
        let (events, continuation) = AsyncStream.makeStream(of: DeviceLinkClientHandler.Event.self)
        #expect(try self.receive(messages, continuation) == isOpen)
        continuation.finish()
        let bytes = await events.reduce(0) { $0 + $1.size }
        #expect(bytes <= UnreadBytes.maximum)
    }

    /// Receives messages of 30 kB.
    /// - Returns: Whether the connection is open afterwards.
    private func receive(
        _ count: Int,
        _ continuation: AsyncStream<DeviceLinkClientHandler.Event>.Continuation
    ) throws -> Bool {
        let channel = EmbeddedChannel()
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        let (time, handler) = self.handler(continuation)
        try channel.pipeline.syncOperations.addHandler(handler)
        let accepted = DeviceLinkConnectResponse(status: .ok, serverTime: time.now)
        try channel.writeInbound(accepted.packet.encoded)
        let message = DeviceLinkMessage(
            token: [1],
            topic: TopicHash(try #require(Topic(Vectors.bundleID))),
            payload: ByteBuffer(repeating: 0x20, count: 30_000),
            messageID: 1,
            expiration: 0,
            sentAt: time.now
        )
        for _ in 0..<count where channel.isActive { try channel.writeInbound(message.packet.encoded) }
        return channel.isActive
    }

    private func handler(
        _ continuation: AsyncStream<DeviceLinkClientHandler.Event>.Continuation
    ) -> (ManualTime, DeviceLinkClientHandler) {
        let time = ManualTime()
        let handler = DeviceLinkClientHandler(
            limits: DeviceLinkClientStateMachine.Limits(),
            connect: DeviceLinkConnectRequest(),
            time: time,
            events: continuation
        )
        return (time, handler)
    }

    private func addHandler(
        toEndedConnection continuation: AsyncStream<DeviceLinkClientHandler.Event>.Continuation
    ) throws {
        let channel = EmbeddedChannel()
        channel.close(promise: nil)
        try channel.pipeline.syncOperations.addHandler(self.handler(continuation).1)
        // The pipeline lets its handlers go.
        channel.embeddedEventLoop.run()
    }
}
