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
        let publish = PushPublish(node: "n-A", secret: "s-A", isImportant: true)
        let request = try ComponentStateMachineTests.request(publish)
        #expect(event == .request(request))
        let response = ComponentResponse(stanza: request.stanza, answer: .result(nil))
        try channel.writeOutbound(ComponentOrder.respond(response))
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
        try channel.writeOutbound(ComponentOrder.leave)
        #expect(try self.written(channel) == "</stream:stream>")
        #expect(try channel.readInbound(as: ComponentEvent.self) == .left)
        #expect(!channel.isActive)
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
