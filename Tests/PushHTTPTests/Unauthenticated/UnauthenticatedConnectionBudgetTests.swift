import NIOCore
import NIOEmbedded
import PushTesting
import Testing

@testable import PushHTTP

/// Unauthenticated connections with their handler, on embedded channels.
@Suite struct UnauthenticatedConnectionBudgetTests {
    private let loop = EmbeddedEventLoop()

    private func connections(
        _ configure: (inout UnauthenticatedConnectionStateMachine.Limits) -> Void = { _ in }
    ) -> UnauthenticatedConnectionBudget {
        var limits = UnauthenticatedConnectionStateMachine.Limits()
        configure(&limits)
        return UnauthenticatedConnectionBudget(limits: limits, logger: silentLogger) { [loop] in
            loop.now + .hours(1)
        }
    }

    private func connect(_ connections: UnauthenticatedConnectionBudget) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: self.loop)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        _ = try connections.admit(channel, listener: "test")
        return channel
    }

    private static func bytes(_ count: Int) -> ByteBuffer { ByteBuffer(repeating: 0, count: count) }

    @Test func anAuthenticatedConnectionIsReleased() throws {
        let connections = self.connections()
        let channel = try self.connect(connections)
        #expect(connections.count == 1)
        UnauthenticatedConnectionBudget.markAuthenticated(channel)
        #expect(connections.count == 0)
        self.loop.advanceTime(by: .minutes(5))
        #expect(channel.isActive)
        try channel.writeInbound(Self.bytes(1 << 20))
        #expect(connections.bytes == 0)
    }

    @Test func aConnectionIsClosedAtItsDeadline() throws {
        let connections = self.connections()
        let channel = try self.connect(connections)
        self.loop.advanceTime(by: .seconds(59))
        #expect(channel.isActive)
        self.loop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
        #expect(connections.count == 0)
    }

    @Test func bytesBeyondTheAllowanceCount() throws {
        let connections = self.connections { $0.bytes = 1000 }
        let (one, other) = (try self.connect(connections), try self.connect(connections))
        try one.writeInbound(Self.bytes(UnauthenticatedConnectionHandler.allowance))
        #expect(connections.bytes == 0)
        try one.writeInbound(Self.bytes(600))
        try other.writeInbound(Self.bytes(UnauthenticatedConnectionHandler.allowance + 300))
        #expect(connections.bytes == 900)
        try other.writeInbound(Self.bytes(101))
        self.loop.run()
        #expect(!one.isActive && other.isActive)
        #expect(connections.bytes == 401)
    }

    @Test func aResetForgetsTheBytes() throws {
        let connections = self.connections()
        let channel = try self.connect(connections)
        let handler = try channel.pipeline.syncOperations.handler(type: UnauthenticatedConnectionHandler.self)
        try channel.writeInbound(Self.bytes(UnauthenticatedConnectionHandler.allowance + 300))
        #expect(connections.bytes == 300)
        handler.reset()
        #expect(connections.bytes == 0)
        handler.hold(50)
        try channel.writeInbound(Self.bytes(100_000))
        #expect(connections.bytes == 50)
    }

    @Test func aFullTableRejectsNewConnections() throws {
        let connections = self.connections { $0.connections = 2 }
        let channels = try (0..<3).map { _ in try self.connect(connections) }
        #expect(channels.map(\.isActive) == [true, true, false])
        self.loop.advanceTime(by: .seconds(1))
        let next = try self.connect(connections)
        self.loop.run()
        #expect(next.isActive && !channels[0].isActive)
        #expect(connections.count == 2)
    }

    @Test func aClosedConnectionIsForgotten() throws {
        let connections = self.connections()
        let channel = try self.connect(connections)
        try channel.close().wait()
        #expect(connections.count == 0)
    }
}
