import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOTLS
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct SessionLoopTests {
    /// Remembers the conditions of sessions, and the pushes that wait.
    private final class Outputs: SessionLoopDelegate {
        private let conditions = Mutex<[UUID: ChatSessionCondition]>([:])
        private let waiting = Mutex<[@Sendable () -> Void]>([])

        func condition(of id: UUID) -> ChatSessionCondition? { self.conditions.withLock { $0[id] } }

        func open(_ session: RunningSession, _ loop: SessionLoop) {}

        func push(_ push: ChatPush, _ session: RunningSession, placed: @escaping @Sendable () -> Void) -> Bool {
            self.waiting.withLock { $0.append(placed) }
            return false
        }

        /// Gives the push that waits longest a place.
        func place() { self.waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }?() }

        func note(_ progress: ChatSessionProgress, _ key: ChatSessionKey) {}

        func setCondition(_ condition: ChatSessionCondition?, _ session: RunningSession) {
            self.conditions.withLock { $0[session.key.id] = condition }
        }
    }

    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            self.count += 1
            context.read()
        }
    }

    /// Returns a version of a session.
    private func session(_ id: UUID) throws -> RunningSession {
        RunningSession(
            key: ChatSessionKey(id: id, revision: UUID()),
            app: 1,
            bundleID: try #require(Topic(Vectors.bundleID)),
            user: "ada",
            chatProtocol: .irc,
            host: "irc.example.org",
            showsText: false
        )
    }

    private func supervisor() -> SessionSupervisor {
        SessionSupervisor(settings: ChatPushSettings(), memory: ChatMemory(seenThrough: .start), seed: 1)
    }

    private func loop(
        _ eventLoop: any EventLoop,
        _ outputs: Outputs,
        derivations: KeyDerivationQueue = .shared
    ) -> SessionLoop {
        let connector = ChatConnector(
            addresses: AddressPolicy(),
            authorities: nil,
            resolver: SystemResolver(BudgetRegistry()),
            timeout: .patience
        )
        return SessionLoop(eventLoop, connector, outputs, ManualTime(.start), derivations: derivations)
    }

    @Test func theEndOfAnEarlierVersionsConnectionIsNoNews() async throws {
        let (outputs, id) = (Outputs(), UUID())
        let loop = self.loop(MultiThreadedEventLoopGroup.singleton.any(), outputs)
        let (former, present) = (try self.session(id), try self.session(id))
        loop.start(former, self.supervisor())
        let first = try #require(await loop.begin(former))
        loop.start(present, self.supervisor())
        let second = try #require(await loop.begin(present))
        #expect(first.connection == second.connection)
        loop.failed(former, ChatFailure("too late"), connection: first.connection)
        // The loop has dealt with that before it responds.
        #expect(await loop.begin(former) == nil)
        #expect(outputs.condition(of: id)?.status == .signingIn)
        loop.failed(present, ChatFailure("lost"), connection: second.connection)
        #expect(await loop.begin(present) == nil)
        #expect(outputs.condition(of: id)?.lastError == "lost")
        await loop.stop(id)
    }

    /// Returns a connection that is not open yet, with the handler of a session.
    private func channel(_ handshake: OneShotValue<Void>, reads: ReadCounter = ReadCounter()) throws -> EmbeddedChannel
    {
        let eventLoop = EmbeddedEventLoop()
        let loop = self.loop(eventLoop, Outputs())
        let runner = SessionRunner(try self.session(UUID()), supervisor: self.supervisor(), loop: loop)
        runner.start()
        let attempt = try #require(runner.begin())
        let channel = EmbeddedChannel(loop: eventLoop)
        let handlers = ChatConnectionHandler.handlers(
            of: runner,
            number: attempt.connection,
            session: ScriptedSession(),
            handshake: handshake
        )
        try channel.pipeline.syncOperations.addHandlers([reads] + handlers)
        return channel
    }

    /// The next session connects then.
    @Test func theHandshakeEndsWithSuccessOrWithTheConnection() async throws {
        let (secured, ended) = (OneShotValue<Void>(), OneShotValue<Void>())
        try self.handshake(secured, ended)
        try await secured.value
        try await ended.value
    }

    /// Ends one handshake, and the connection of another.
    private func handshake(_ secured: OneShotValue<Void>, _ ended: OneShotValue<Void>) throws {
        let channel = try self.channel(secured)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "hello"))
        _ = try channel.finish()
        _ = try self.channel(ended).finish()
    }

    /// Starts a session, and returns its open connection.
    private func connect(
        _ loop: SessionLoop,
        _ eventLoop: EmbeddedEventLoop,
        reads: ReadCounter = ReadCounter()
    ) throws -> EmbeddedChannel {
        let session = try self.session(UUID())
        loop.start(session, self.supervisor())
        eventLoop.run()
        var handlers: [any ChannelHandler] = []
        loop.run(session.key) { runner in
            guard let attempt = runner.begin() else { return }
            handlers = ChatConnectionHandler.handlers(
                of: runner,
                number: attempt.connection,
                session: ScriptedSession(),
                handshake: OneShotValue()
            )
        }
        #expect(!handlers.isEmpty)
        let channel = EmbeddedChannel(loop: eventLoop)
        try channel.pipeline.syncOperations.addHandlers([reads] + handlers)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(string: "hello"))
        return channel
    }

    /// Before, its rounds were computed for nobody.
    @Test func theKeyOfAConnectionThatHasEndedIsNotDerived() throws {
        let (eventLoop, thread) = (EmbeddedEventLoop(), ManualThread())
        let loop = self.loop(eventLoop, Outputs(), derivations: thread.derivations())
        let (ended, open) = (try self.connect(loop, eventLoop), try self.connect(loop, eventLoop))
        for channel in [ended, open] { try channel.writeInbound(ByteBuffer(string: "derive")) }
        _ = try? ended.finish()
        thread.runAll()
        eventLoop.run()
        #expect(thread.derived.count == 1)
        #expect(try open.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [42]))
        _ = try? open.finish()
    }

    /// A server may ask very often in what is read at once, and each write costs a record of TLS.
    @Test func whatOneEventSendsIsOneWrite() throws {
        let eventLoop = EmbeddedEventLoop()
        let channel = try self.connect(self.loop(eventLoop, Outputs()), eventLoop)
        try channel.writeInbound(ByteBuffer(string: "ask"))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [1, 2, 3]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        _ = try? channel.finish()
    }

    @Test func aSessionWhosePushesWaitReadsNothing() throws {
        let (eventLoop, outputs, reads) = (EmbeddedEventLoop(), Outputs(), ReadCounter())
        let loop = self.loop(eventLoop, outputs)
        let channel = try self.connect(loop, eventLoop, reads: reads)
        try channel.writeInbound(ByteBuffer(string: "in"))
        channel.read()
        let before = reads.count
        #expect(before > 0)
        // Of two conversations.
        for text in ["message bob", "message eve"] { try channel.writeInbound(ByteBuffer(string: text)) }
        channel.read()
        outputs.place()
        eventLoop.run()
        #expect(reads.count == before)
        outputs.place()
        eventLoop.run()
        #expect(reads.count == before + 1)
        _ = try? channel.finish()
    }

    @Test func aServerThatTakesNothingIsNotRead() throws {
        let reads = ReadCounter()
        let channel = try self.channel(OneShotValue(), reads: reads)
        channel.read()
        #expect(reads.count == 1)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        channel.read()
        #expect(reads.count == 1)
        channel.isWritable = true
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(reads.count == 2)
        channel.pipeline.fireChannelWritabilityChanged()
        #expect(reads.count == 2)
        _ = try channel.finish()
    }
}
