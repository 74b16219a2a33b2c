import NIOCore
import NIOEmbedded
import Testing

@testable import PushGateway

@Suite struct ProtocolDetectorTests {
    @Test func whatIsNotHTTP1IsHandedToHTTP2() throws {
        var isConfigured = false
        let detector = ProtocolDetector(deadline: .seconds(30)) { _ in isConfigured = true }
        let channel = EmbeddedChannel(handler: detector)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        #expect(!isConfigured)
        let preface = ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        try channel.writeInbound(preface)
        #expect(isConfigured)
        #expect(try channel.readInbound(as: ByteBuffer.self) == preface)
        channel.embeddedEventLoop.advanceTime(by: .seconds(31))
        #expect(channel.isActive, "the deadline was for the preface")
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n", "POST /3/device/aa HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n"])
    func http1HasAResponseAndIsClosed(text: String) throws {
        let channel = EmbeddedChannel(
            handler: ProtocolDetector(deadline: .seconds(30)) { _ in Issue.record("not HTTP/2") }
        )
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(string: text))
        let response = try channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
        #expect(response?.hasPrefix("HTTP/1.1 505 ") == true)
        #expect(!channel.isActive)
    }

    @Test func silenceIsClosedAtTheDeadline() throws {
        let channel = EmbeddedChannel(handler: ProtocolDetector(deadline: .seconds(30)) { _ in })
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }

    @Test(arguments: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "POST / HTTP/1.1\r\n", "\u{0}\u{0}\u{12}"])
    func oneByteAtATimeIsTheSameAsAllAtOnce(text: String) throws {
        var isHTTP2 = false
        let channel = EmbeddedChannel(handler: ProtocolDetector(deadline: .seconds(30)) { _ in isHTTP2 = true })
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for byte in text.utf8 where channel.isActive { try channel.writeInbound(ByteBuffer(bytes: [byte])) }
        #expect(isHTTP2 == !text.hasPrefix("POST"))
        var received = ByteBuffer()
        while let bytes = try channel.readInbound(as: ByteBuffer.self) { received.writeImmutableBuffer(bytes) }
        #expect(String(buffer: received) == (isHTTP2 ? text : ""))
    }

    @Test(arguments: ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r", "POS"])
    func halfAPrefaceIsClosedAtTheDeadline(text: String) throws {
        let channel = EmbeddedChannel(handler: ProtocolDetector(deadline: .seconds(30)) { _ in })
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(string: text))
        channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        #expect(!channel.isActive)
    }
}
