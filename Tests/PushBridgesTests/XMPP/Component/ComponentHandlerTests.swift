import NIOCore
import NIOEmbedded
import Testing

@testable import PushBridges

@Suite struct ComponentHandlerTests {
    private func makeChannel() throws -> EmbeddedChannel {
        let machine = ComponentStateMachine(domain: "push.example.org", secret: "test")
        let channel = EmbeddedChannel(handler: ComponentHandler(machine))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 5347)).wait()
        return channel
    }

    private func makeOpenChannel() throws -> EmbeddedChannel {
        let channel = try self.makeChannel()
        try channel.writeInbound(ByteBuffer(string: ComponentStateMachineTests.header + "<handshake/>"))
        _ = try self.written(channel)
        #expect(try channel.readInbound(as: ComponentEvent.self) == .established)
        return channel
    }

    private func written(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    @Test func theHandshakeIsWritten() throws {
        let channel = try self.makeChannel()
        #expect(try self.written(channel).hasSuffix(" to='push.example.org'>"))
        try channel.writeInbound(ByteBuffer(string: ComponentStateMachineTests.header))
        #expect(try self.written(channel) == "<handshake>aaee83c26aeeafcbabeabfcbcd50df997e0a2a1e</handshake>")
        #expect(try channel.readInbound(as: ComponentEvent.self) == nil)
        _ = try channel.finish()
    }

    @Test func aRequestGoesInAndItsAnswerOut() throws {
        let channel = try self.makeOpenChannel()
        try channel.writeInbound(ByteBuffer(string: ComponentStateMachineTests.publish))
        let event = try channel.readInbound(as: ComponentEvent.self)
        let publish = PushPublish(node: "n-A", secret: "s-A", hasMessageText: true)
        let request = try ComponentStateMachineTests.request(publish)
        #expect(event == .request(request))
        let response = ComponentResponse(stanza: request.stanza, answer: .result(nil))
        try channel.writeOutbound(response)
        #expect(try self.written(channel) == "<iq from='push.example.org' id='n12' to='example.com' type='result'/>")
        _ = try channel.finish()
    }

    @Test func aFailureIsAnErrorOfTheChannel() throws {
        let channel = try self.makeOpenChannel()
        #expect(throws: ComponentFailure.ended) { try channel.writeInbound(ByteBuffer(string: "</stream:stream>")) }
        #expect(!channel.isActive)
    }

    @Test func leavingIsNone() throws {
        let channel = try self.makeOpenChannel()
        // A server that reads nothing does not hold it up.
        channel.isWritable = false
        try channel.triggerUserOutboundEvent(ComponentShutdown()).wait()
        #expect(try self.written(channel) == "</stream:stream>")
        #expect(try channel.readInbound(as: ComponentEvent.self) == .left)
        #expect(!channel.isActive)
    }

    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            self.count += 1
            context.read()
        }
    }

    @Test func aServerThatSendsTooMuchWaits() throws {
        let channel = try self.makeOpenChannel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        let reads = ReadCounter()
        try channel.pipeline.syncOperations.addHandler(reads, position: .first)
        channel.read()
        let stanza = "<message>" + String(repeating: "<a/>", count: 999) + "</message>"
        for _ in 0..<20 { try channel.writeInbound(ByteBuffer(string: stanza)) }
        let before = reads.count
        channel.read()
        #expect(reads.count == before && channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(reads.count == before + 1)
        channel.read()
        #expect(reads.count == before + 2)
        _ = try channel.finish()
    }

    @Test func timePasses() throws {
        let channel = try self.makeOpenChannel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(60))
        #expect(try self.written(channel) == " ")
        let silent = try self.makeChannel()
        silent.embeddedEventLoop.advanceTime(by: .seconds(15))
        #expect(throws: ComponentFailure.notAccepted) { try silent.throwIfErrorCaught() }
        #expect(!silent.isActive)
    }
}
