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

/// The feedback door over TLS, with our own client and with connections that break.
@Suite(.timeLimit(.minutes(5))) struct FeedbackDoorTLSTests {
    @Test func theListIsReadOnceAndIsEmptyRightAfter() async throws {
        try await LegacyDoors.with { doors in
            let entries = try (0..<200).map { try FeedbackStoreTests.entry($0, at: 1_700_000_000 + Int64($0)) }
            try await doors.list(entries)
            #expect(try await Self.read(doors) == entries.map(\.tuple))
            #expect(try await Self.read(doors).isEmpty)
            #expect(try await doors.countFeedback() == 0)
        }
    }

    @Test func allTopicsOfTheCertificateAreListedAndNoOthers() async throws {
        try await LegacyDoors.with(topics: [Vectors.bundleID, "\(Vectors.bundleID).voip"]) { doors in
            let topics = [Vectors.bundleID, "\(Vectors.bundleID).voip", "com.example.Other"]
            for (number, topic) in topics.enumerated() {
                var entry = try FeedbackStoreTests.entry(number, at: 1)
                entry.topic = try #require(Topic(topic))
                try await doors.list([entry])
            }
            #expect(try await Self.read(doors).map(\.token.bytes.last) == [0, 1])
            #expect(try await Self.read(doors).isEmpty)
            #expect(try await doors.countFeedback() == 1)
        }
    }

    @Test func manyReadersAtOnceGetEachEntryOnce() async throws {
        try await LegacyDoors.with { doors in
            try await doors.list(try (0..<200).map { try FeedbackStoreTests.entry($0, at: 1) })
            let counts = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await Self.read(doors).count } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.sorted() == [0, 0, 0, 0, 0, 0, 0, 200])
        }
    }

    /// More than the system's buffers hold, and a client that closes without reading: a reset.
    @Test func aConnectionThatBreaksClearsNothing() async throws {
        try await LegacyDoors.with { doors in
            let entries = try (0..<200).map { try FeedbackStoreTests.entry($0, at: 1) }
            try await doors.list(entries)
            let tls = try doors.authorities.clientTLS()
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
                .connect(host: "127.0.0.1", port: doors.feedbackPort)
                .get()
            for await _ in first { break }
            try await channel.closeFuture.get()
            #expect(try await Self.read(doors) == entries.map(\.tuple))
        }
    }

    @Test func whatIsTooRecentIsNotShownYet() async throws {
        try await LegacyDoors.with(feedbackDelay: .seconds(3600)) { doors in
            let now = SystemTime().now.seconds
            try await doors.list(
                [try FeedbackStoreTests.entry(1, at: now - 7200), try FeedbackStoreTests.entry(2, at: now)]
            )
            #expect(try await Self.read(doors).map(\.token.bytes.last) == [1])
            #expect(try await Self.read(doors).isEmpty)
            #expect(try await doors.countFeedback() == 1)
        }
    }

    @Test func whoIsNotTrustedGetsNoListThatLooksComplete() async throws {
        try await LegacyDoors.with(environments: [.production]) { doors in
            await #expect(throws: FeedbackError.truncated) { try await Self.read(doors) }
        }
        try await LegacyDoors.with { doors in
            await #expect(throws: (any Error).self) { try await Self.read(doors, as: .nobody) }
            await #expect(throws: (any Error).self) { try await Self.read(doors, as: .stranger) }
        }
    }

    @Test func aClientThatTalksTooMuchIsCutOff() async throws {
        try await LegacyDoors.with { doors in
            // No turn for this one: it would be served and closed before it has said enough.
            let connection = try await RawConnection.open(
                port: doors.feedbackPort,
                tls: try doors.authorities.clientTLS()
            )
            connection.write([UInt8](repeating: 0, count: 1_000_000))
            _ = await connection.readToEnd()
            #expect(try await Self.read(doors).isEmpty)
        }
    }

    private static func read(
        _ doors: LegacyDoors,
        as client: LegacyAuthorities.Client = .provider
    ) async throws -> [FeedbackTuple] {
        let tls = try NIOSSLContext(configuration: doors.authorities.clientTLS(client))
        var tuples: [FeedbackTuple] = []
        var client = FeedbackClient(host: "127.0.0.1", port: doors.feedbackPort, tls: tls)
        (client.connectTimeout, client.silence) = (.seconds(240), .seconds(240))
        for try await tuple in client.tuples() { tuples.append(tuple) }
        return tuples
    }
}

/// Resets the connection at the first byte: TLS gets no chance to say goodbye.
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
