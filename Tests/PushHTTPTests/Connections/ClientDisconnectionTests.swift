import Hummingbird
import NIOCore
import NIOPosix
import PushTesting
import Synchronization
import Testing

@testable import PushHTTP

/// A request ends when its client disconnects: with a real server and a raw socket.
@Suite(.timeLimit(.patience)) struct ClientDisconnectionTests {
    private enum Event: Equatable {
        case began
        case ended(isCancelled: Bool)
    }

    private func withServer(
        _ body: @escaping @Sendable (Int, AsyncStream<Event>) async throws -> Void
    ) async throws {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        let (ports, opened) = AsyncStream.makeStream(of: Int.self)
        let router = Router(context: APIContext.self)
        router.get("/endless") { _, context in
            try await context.channel.withClientConnected {
                continuation.yield(.began)
                defer { continuation.yield(.ended(isCancelled: Task.isCancelled)) }
                try await Task.sleep(for: .seconds(3600), clock: .continuous)
                return "never"
            }
        }
        router.get("/short") { _, context in try await context.channel.withClientConnected { "done" } }
        let server = Application(
            router: router,
            server: .http1(
                configuration: .init(additionalChannelHandlers: [RequestBodyHandler(deadline: .seconds(30))])
            ),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { opened.yield($0.localAddress?.port ?? 0) },
            logger: silentLogger
        )
        try await withServices([server]) {
            for await port in ports { return try await body(port, events) }
        }
    }

    private static func next(_ events: AsyncStream<Event>) async -> Event? {
        for await event in events { return event }
        return nil
    }

    @Test func aRequestEndsWhenItsClientDisconnects() async throws {
        try await self.withServer { port, events in
            let connection = try await RawConnection.open(port: port)
            connection.write("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n".utf8)
            #expect(await Self.next(events) == .began)
            await connection.close()
            #expect(await Self.next(events) == .ended(isCancelled: true))
        }
    }

    /// The connection stays usable after a request ended.
    @Test func aConnectionIsUsedAgain() async throws {
        try await self.withServer { port, _ in
            let connection = try await RawConnection.open(port: port)
            for count in 1...3 {
                connection.write("GET /short HTTP/1.1\r\nhost: a\r\n\r\n".utf8)
                let response = try await connection.read { String(decoding: $0, as: UTF8.self).contains("done") }
                #expect(String(decoding: response, as: UTF8.self).hasPrefix("HTTP/1.1 200"), "request \(count)")
            }
            await connection.close()
        }
    }
}
