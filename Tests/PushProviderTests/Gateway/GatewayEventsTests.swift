import Foundation
import NIOCore
import NIOPosix
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The reader of a gateway's events, against a server that does not behave.
@Suite(.timeLimit(.minutes(5))) struct GatewayEventsTests {
    @Test(arguments: [
        "", "x", "127.0.0.1:2198", "ftp://127.0.0.1", "http://", "http://host/v1", "http://user@host",
        "http://host?x=1", "http://host#x", "file:///etc/passwd",
    ])
    func onlyTheURLOfAServerIsTaken(text: String) {
        #expect(GatewayEvents(url: text) == nil)
    }

    @Test func aSlashAtTheEndIsLeftOut() {
        #expect(GatewayEvents(url: "http://host:1/")?.url == "http://host:1")
        #expect(GatewayEvents(url: "https://host")?.url == "https://host")
    }

    @Test func eventsComeInTheOrderOfTheirTimes() async throws {
        let body = #"""
            {"events":[{"id":9,"name":"delivered","event":"Delivered to Device","timeMs":20,"apnsId":"A"},
            {"id":8,"name":"received","event":"Received by APNs","timeMs":10},{"id":"x"},7,null]}
            """#
        let events = try await Self.events(responding: Self.response(body))
        #expect(events.map(\.name) == ["received", "delivered"])
        #expect(events.map(\.text) == ["Received by APNs", "Delivered to Device"])
        #expect(events.map(\.apnsID) == [nil, "A"])
    }

    @Test(arguments: [
        "", "garbage\r\n\r\n", Self.response("nonsense"), Self.response("{}"), Self.response("[]"),
        Self.response(#"{"events":7}"#), "HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{",
        Self.response(String(repeating: " ", count: 1024 * 1024 + 1)),
    ])
    func garbageIsAFailureThatNamesTheGateway(response: String) async throws {
        await #expect(throws: GatewayEventsFailure.self) { _ = try await Self.events(responding: response) }
    }

    @Test func aGatewayThatIsSilentOrAwayIsANote() async throws {
        let silent = try await Self.reading(responding: nil)
        guard case .failed(let text) = silent else {
            Issue.record("\(silent)")
            return
        }
        #expect(text.contains("http://127.0.0.1:"))
        let port = try RefusingPort()
        var gateway = try #require(GatewayEvents(url: "http://127.0.0.1:\(port.number)"))
        gateway.deadline = .seconds(2)
        guard case .failed = await gateway.reading(of: "x") else {
            Issue.record("nothing listens there")
            return
        }
    }

    private static func response(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func events(responding response: String) async throws -> [GatewayEvent] {
        try await RawServer.run(responding: response) { port in
            var gateway = try #require(GatewayEvents(url: "http://127.0.0.1:\(port)"))
            gateway.deadline = .seconds(5)
            return try await gateway.events(apnsID: "a b&c")
        }
    }

    private static func reading(responding response: String?) async throws -> GatewayReading {
        try await RawServer.run(responding: response) { port in
            var gateway = try #require(GatewayEvents(url: "http://127.0.0.1:\(port)"))
            gateway.deadline = .milliseconds(300)
            return await gateway.reading(of: "x")
        }
    }
}

/// A server that sends the same bytes to whoever sends something, and closes; or nothing at all.
private enum RawServer {
    static func run<Value>(responding response: String?, _ body: (Int) async throws -> Value) async throws -> Value {
        let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Responder(response: response))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let value = try await body(server.localAddress?.port ?? 0)
            try await server.close()
            return value
        } catch {
            try? await server.close()
            throw error
        }
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let response: String?

        init(response: String?) { self.response = response }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let response else { return }
            let channel = context.channel
            channel.writeAndFlush(ByteBuffer(string: response)).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
