import NIOCore
import NIOEmbedded
import NIOTLS
import PushHTTP
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushGateway

/// Readers that do not read, or close early, under a clock that moves only when the test says so: what they have not read stays
/// listed.
@Suite(.timeLimit(.patience)) struct FeedbackServerHandlerTests {
    @Test func aReaderThatTakesNothingIsGivenUp() async throws {
        try await Self.withReader(takesWrites: false) { reader in
            await reader.waitForWrite()
            try await reader.pass(.seconds(29))
            #expect(reader.channel.isActive)
            try await reader.pass(.seconds(1))
            #expect(!reader.channel.isActive)
            #expect(try await reader.listed() == 1)
        }
    }

    @Test func theEndComesAfterItsPauseAndThenTheClientHasFiveSeconds() async throws {
        try await Self.withReader { reader in
            await reader.waitForWrite()
            try await reader.pass(.milliseconds(249))
            #expect(reader.ends == 0)
            try await reader.pass(.milliseconds(1))
            #expect(reader.ends == 1)
            try await reader.pass(.milliseconds(4999))
            #expect(reader.channel.isActive)
            try await reader.pass(.milliseconds(1))
            #expect(!reader.channel.isActive)
            #expect(try await reader.listed() == 1)
        }
    }

    @Test func aReaderThatClosesInThePauseLeavesItsEntries() async throws {
        try await Self.withReader { reader in
            await reader.waitForWrite()
            try await reader.channel.close().get()
            try await reader.pass(.seconds(60))
            #expect(reader.ends == 0)
            #expect(try await reader.listed() == 1)
        }
    }

    @Test func aReaderThatClosesAfterTheEndHasReadItsEntries() async throws {
        try await Self.withReader { reader in
            await reader.waitForWrite()
            try await reader.pass(.milliseconds(250))
            try await reader.channel.close().get()
            #expect(try await reader.listed() == 0)
        }
    }

    @Test func aReaderThatClosesAtOnceLetsTheNextOneRead() async throws {
        try await Self.withReader { reader in
            try await reader.channel.close().get()
            #expect(try await reader.listed() == 1)
        }
    }

    /// Runs a test with a reader of one entry, whose handshake has just ended.
    private static func withReader(
        takesWrites: Bool = true,
        _ body: (Reader) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let database = try GatewayDatabase(path: "\(directory)/gateway.sqlite")
            let (time, identity) = (ManualTime(), LegacyFixtures.identity())
            let listener = FeedbackListener(
                store: FeedbackList(database: database, environment: .sandbox),
                certificates: LegacyFixtures.certificates(.success(identity)),
                time: time,
                logger: silentLogger
            )
            let entry = try FeedbackListTests.entry(1, at: 1)
            try await database.write { _ = try listener.store.add(entry, in: $0) }
            let reader = try await Reader(of: listener, topic: identity.defaultTopic, time, takesWrites: takesWrites)
            try await body(reader)
            try? await reader.channel.close().get()
            try await database.close()
        }
    }
}

/// A connection to a feedback listener.
private final class Reader: Sendable {
    let channel: NIOAsyncTestingChannel
    private let listener: FeedbackListener
    private let topic: Topic
    private let time: ManualTime
    private let writes: AsyncStream<Void>
    private let endCount = Mutex(0)

    init(of listener: FeedbackListener, topic: Topic, _ time: ManualTime, takesWrites: Bool) async throws {
        (self.listener, self.topic, self.time) = (listener, topic, time)
        let (writes, continuation) = AsyncStream<Void>.makeStream()
        self.writes = writes
        self.channel = NIOAsyncTestingChannel()
        let channel = self.channel
        try await channel.testingEventLoop.executeInContext {
            let peer = Peer(takesWrites: takesWrites, wrote: { continuation.yield() }) { [weak self] in
                self?.endCount.withLock { $0 += 1 }
            }
            let handler = FeedbackServerHandler(listener: listener) { _ in [1] }
            try channel.pipeline.syncOperations.addHandlers([peer, handler])
        }
        try await channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        try await channel.testingEventLoop.executeInContext {
            channel.pipeline.syncOperations.fireUserInboundEventTriggered(
                TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil)
            )
        }
    }

    /// The number of times that the write side was closed.
    var ends: Int { self.endCount.withLock { $0 } }

    func waitForWrite() async { for await _ in self.writes { return } }

    func pass(_ duration: Duration) async throws {
        // What has begun at the time before ends first.
        try await self.channel.testingEventLoop.executeInContext {}
        self.time.advance(by: duration)
        await self.channel.testingEventLoop.advanceTime(by: TimeAmount(duration))
    }

    /// Takes the next turn, which comes after this connection's, and returns the number of entries.
    func listed() async throws -> Int {
        #expect(await self.listener.readerQueue.enter(self.topic))
        let page = try await self.listener.store.page(self.topic, after: nil, until: self.time.now, limit: 10)
        await self.listener.readerQueue.leave(self.topic)
        return page.count
    }
}

/// The client's side: it takes what is written or leaves it, and stays when the write side is closed.
private final class Peer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private let takesWrites: Bool
    private let wrote: () -> Void
    private let ended: () -> Void
    private var left: [EventLoopPromise<Void>] = []

    init(takesWrites: Bool, wrote: @escaping () -> Void, ended: @escaping () -> Void) {
        (self.takesWrites, self.wrote, self.ended) = (takesWrites, wrote, ended)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if self.takesWrites { promise?.succeed() } else if let promise { self.left.append(promise) }
        self.wrote()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .output else {
            self.ended()
            promise?.succeed()
            return
        }
        let left = self.left
        self.left = []
        for promise in left { promise.fail(ChannelError.ioOnClosedChannel) }
        context.close(mode: mode, promise: promise)
    }
}
