import NIOCore
import NIOEmbedded
import PushSupport
import PushTesting
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

    private func addHandler(
        toEndedConnection continuation: AsyncStream<DeviceLinkClientHandler.Event>.Continuation
    ) throws {
        let channel = EmbeddedChannel()
        channel.close(promise: nil)
        let handler = DeviceLinkClientHandler(
            limits: DeviceLinkClientStateMachine.Limits(),
            connect: DeviceLinkConnectRequest(),
            time: ManualTime(),
            events: continuation
        )
        try channel.pipeline.syncOperations.addHandler(handler)
        // The pipeline lets its handlers go.
        channel.embeddedEventLoop.run()
    }
}
