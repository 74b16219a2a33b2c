import HummingbirdCore
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import PushHTTP

@Suite struct PlainServerChannelTests {
    @Test func aConnectionThatAListenerDropsAtItsEndIsNoCrash() async throws {
        let server = PlainServerChannel(http1: HTTP1Channel(responder: { _, _, _ in }))
        let channel = NIOAsyncTestingChannel()
        let setup = try await channel.testingEventLoop.executeInContext {
            server.setup(channel: channel, logger: Logger(label: "test")).map { _ in }
        }
        try await setup.get()
        // The handlers let go of the connection's value as it becomes active.
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
        #expect(channel.isActive)
        try await channel.close()
        #expect(!channel.isActive)
    }
}
