import NIOCore
import NIOPosix
import NIOSSL
import PushSender
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The feedback listener over TLS, with our own client and with connections that break.
@Suite(.timeLimit(.patience)) struct FeedbackListenerTLSTests {
    @Test func theListIsReadOnceAndIsEmptyRightAfter() async throws {
        try await LegacyListeners.with { listeners in
            let entries = try (0..<200).map { try FeedbackListTests.entry($0, at: 1_700_000_000 + Int64($0)) }
            try await listeners.list(entries)
            #expect(try await Self.read(listeners) == entries.map(\.tuple))
            #expect(try await Self.read(listeners).isEmpty)
            #expect(try await listeners.countFeedback() == 0)
        }
    }

    @Test func allTopicsOfTheCertificateAreListedAndNoOthers() async throws {
        try await LegacyListeners.with(topics: [Vectors.bundleID, "\(Vectors.bundleID).voip"]) { listeners in
            let topics = [Vectors.bundleID, "\(Vectors.bundleID).voip", "com.example.Other"]
            for (number, topic) in topics.enumerated() {
                var entry = try FeedbackListTests.entry(number, at: 1)
                entry.topic = try #require(Topic(topic))
                try await listeners.list([entry])
            }
            #expect(try await Self.read(listeners).map(\.token.bytes.last) == [0, 1])
            #expect(try await Self.read(listeners).isEmpty)
            #expect(try await listeners.countFeedback() == 1)
        }
    }

    @Test func manyReadersAtOnceGetEachEntryOnce() async throws {
        try await LegacyListeners.with { listeners in
            try await listeners.list(try (0..<200).map { try FeedbackListTests.entry($0, at: 1) })
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.read(listeners).count } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.sorted() == [0, 0, 0, 0, 0, 0, 0, 200])
        }
    }

    /// More than the system's buffers hold, and a client that closes without reading: a reset.
    @Test func aConnectionThatBreaksClearsNothing() async throws {
        try await LegacyListeners.with { listeners in
            let entries = try (0..<200).map { try FeedbackListTests.entry($0, at: 1) }
            try await listeners.list(entries)
            let tls = try listeners.authorities.clientTLS()
            let (first, continuation) = AsyncStream.makeStream(of: Void.self)
            let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let options = try #require(channel as? any SocketOptionProvider)
                        _ = options.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                        let context = try NIOSSLContext(configuration: tls)
                        let handler = try NIOSSLClientHandler(context: context, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                        try channel.pipeline.syncOperations.addHandler(ResetHandler(continuation))
                    }
                }
                .connect(host: "127.0.0.1", port: listeners.feedbackPort)
                .get()
            for await _ in first { break }
            try await channel.closeFuture.get()
            #expect(try await Self.read(listeners) == entries.map(\.tuple))
        }
    }

    @Test func whatIsTooRecentIsNotShownYet() async throws {
        try await LegacyListeners.with(feedbackDelay: .seconds(3600)) { listeners in
            let now = SystemTime().now.seconds
            try await listeners.list(
                [try FeedbackListTests.entry(1, at: now - 7200), try FeedbackListTests.entry(2, at: now)]
            )
            #expect(try await Self.read(listeners).map(\.token.bytes.last) == [1])
            #expect(try await Self.read(listeners).isEmpty)
            #expect(try await listeners.countFeedback() == 1)
        }
    }

    @Test func anUntrustedClientGetsNoListThatLooksComplete() async throws {
        try await LegacyListeners.with(environments: [.production]) { listeners in
            await #expect(throws: FeedbackError.truncated) { try await Self.read(listeners) }
        }
        try await LegacyListeners.with { listeners in
            await #expect(throws: (any Error).self) { try await Self.read(listeners, as: .anonymous) }
            await #expect(throws: (any Error).self) { try await Self.read(listeners, as: .stranger) }
        }
    }

    @Test func aClientThatSendsTooMuchIsAborted() async throws {
        try await LegacyListeners.with { listeners in
            // It sends too much before its turn, or it would be served and closed first.
            let connection = try await RawConnection.open(
                port: listeners.feedbackPort,
                tls: try listeners.authorities.clientTLS()
            )
            connection.write([UInt8](repeating: 0, count: 1_000_000))
            _ = await connection.readToEnd()
            #expect(try await Self.read(listeners).isEmpty)
        }
    }

    private static func read(
        _ listeners: LegacyListeners,
        as client: LegacyAuthorities.Client = .provider
    ) async throws -> [FeedbackTuple] {
        var endpoint = PushServiceEndpoint(host: "127.0.0.1", port: listeners.feedbackPort)
        endpoint.connectTimeout = .patience
        let connector = try LegacyConnector(to: endpoint, tls: listeners.authorities.clientTLS(client))
        var tuples: [FeedbackTuple] = []
        var client = FeedbackClient(connector: connector)
        client.idleTimeout = .patience
        for try await tuple in client.tuples() { tuples.append(tuple) }
        return tuples
    }
}

/// Resets the connection at the first byte: TLS cannot send its closure alert.
private final class ResetHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let first: AsyncStream<Void>.Continuation

    init(_ first: AsyncStream<Void>.Continuation) {
        self.first = first
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.first.yield()
        let tls = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        tls?.close(promise: nil)
    }
}
