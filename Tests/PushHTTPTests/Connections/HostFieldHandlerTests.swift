import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import PushHTTP

@Suite struct HostFieldHandlerTests {
    /// A connection whose requests are all answered with 204.
    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = Self.unwrapInboundIn(data) else { return }
            let head = HTTPResponseHead(version: .http1_1, status: .noContent)
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    /// Returns what a server responds to bytes.
    private func response(to text: String) throws -> (text: String, isOpen: Bool) {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withErrorHandling: false
        )
        try HostFieldHandler.add(to: channel)
        try channel.pipeline.syncOperations.addHandler(Responder())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(ByteBuffer(string: text))
        channel.embeddedEventLoop.run()
        var response = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { response += String(buffer: part) }
        let isOpen = channel.isActive
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return (response, isOpen)
    }

    @Test(arguments: ["", "host: a\r\nhost: b\r\n", "Host: a\r\nx: y\r\nHOST: a\r\n"])
    func aRequestWithoutOneHostIsRefused(fields: String) throws {
        let (text, isOpen) = try self.response(to: "GET / HTTP/1.1\r\n\(fields)\r\n")
        #expect(text.hasPrefix("HTTP/1.1 400 "))
        #expect(text.contains("bad_host"))
        #expect(!isOpen)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"])
    func aRequestWithOneHostOrOfHTTP10Passes(request: String) throws {
        #expect(try self.response(to: request).text.hasPrefix("HTTP/1.1 204 "))
    }

    @Test func theRequestsBeforeGetTheirResponses() throws {
        let good = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let (text, isOpen) = try self.response(to: good + good + "GET / HTTP/1.1\r\n\r\n" + good)
        #expect(text.components(separatedBy: "HTTP/1.1 204").count == 3)
        #expect(text.components(separatedBy: "HTTP/1.1 400").count == 2)
        #expect(!isOpen)
    }
}
