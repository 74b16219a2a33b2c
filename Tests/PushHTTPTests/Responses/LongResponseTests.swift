import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

/// The bodies of long responses, and the memory that they take.
@Suite struct LongResponseTests {
    private static let length = 2 * Budget.uncountedBodyLength + 100
    private static let content = ByteBuffer(bytes: (0..<Self.length).map { UInt8($0 % 251) })

    private struct Disconnected: Error {}

    /// The pieces that were written, with the amount that was held at the time of each.
    private final class Written: Sendable {
        private let state = Mutex<(pieces: [ByteBuffer], held: [Int], isFinished: Bool)>(([], [], false))
        private let bytes: Budget
        private let most: Int

        init(_ bytes: Budget, most: Int = .max) { (self.bytes, self.most) = (bytes, most) }

        var pieces: [Int] { self.state.withLock { $0.pieces.map(\.readableBytes) } }
        var held: [Int] { self.state.withLock { $0.held } }
        var isFinished: Bool { self.state.withLock { $0.isFinished } }

        var whole: ByteBuffer {
            self.state.withLock { state in
                state.pieces.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
            }
        }

        func add(_ piece: ByteBuffer) throws {
            let held = self.bytes.usage.held
            try self.state.withLock { state in
                guard state.pieces.count < self.most else { throw Disconnected() }
                state.pieces.append(piece)
                state.held.append(held)
            }
        }

        func finish() { self.state.withLock { $0.isFinished = true } }
    }

    private struct Writer: ResponseBodyWriter {
        let written: Written

        mutating func write(_ buffer: ByteBuffer) async throws { try self.written.add(buffer) }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws { self.written.finish() }
    }

    /// Keeps the parts that were written until they are taken.
    private final class Socket: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = HTTPResponsePart

        private let state = Mutex<(waiting: [EventLoopPromise<Void>], taken: Int)>(([], 0))

        var waiting: Int { self.state.withLock { $0.waiting.count } }
        var taken: Int { self.state.withLock { $0.taken } }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let promise = promise ?? context.eventLoop.makePromise()
            self.state.withLock { $0.waiting.append(promise) }
        }

        func take() {
            let promise = self.state.withLock { state in
                state.taken += 1
                return state.waiting.removeFirst()
            }
            promise.succeed()
        }
    }

    /// Hands everything to the channel at once, as a task does that has not yet learned that it cannot be written.
    private struct HastyWriter: ResponseBodyWriter {
        let channel: any Channel
        /// Called before each piece.
        let noted: @Sendable () -> Void

        mutating func write(_ buffer: ByteBuffer) async throws {
            self.noted()
            self.channel.writeAndFlush(HTTPResponsePart.body(buffer), promise: nil)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private final class Numbers: Sendable {
        let all = Mutex<[Int]>([])
    }

    private let bytes = Budget(.responseBytes)

    /// A long response that holds its length.
    private func held(on channel: any Channel = NIOAsyncTestingChannel()) throws -> Response {
        let response = Response.content(Self.content, "text/plain")
        let length = try #require(response.longBody)
        return response.holding(try self.bytes.take(length, for: BudgetCaller()), on: channel)
    }

    @Test(.timeLimit(.patience)) func eachPieceIsWrittenOnceTheSocketHasTakenTheLast() async throws {
        let socket = Socket()
        let channel = try await NIOAsyncTestingChannel { channel in
            let deadline = ResponseDeadlineHandler(deadline: .hours(1), transport: .stream)
            try channel.pipeline.syncOperations.addHandlers([socket, deadline])
        }
        let takenBefore = Numbers()
        let response = try self.held(on: channel)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let writer = HastyWriter(channel: channel) { takenBefore.all.withLock { $0.append(socket.taken) } }
                try await response.body.write(writer)
            }
            for _ in 0..<3 {
                try await eventually { socket.waiting == 1 }
                #expect(self.bytes.usage.held == Self.length)
                socket.take()
            }
            try await group.waitForAll()
        }
        #expect(takenBefore.all.withLock { $0 } == [0, 1, 2])
        #expect(self.bytes.usage.held == 0)
    }

    @Test func aLongResponseIsWrittenInPiecesAndHoldsItsLengthUntilThen() async throws {
        let written = Written(self.bytes)
        let response = try self.held()
        #expect(response.headers[.contentLength] == "\(Self.length)")
        try await response.body.write(Writer(written: written))
        #expect(written.pieces == [Budget.uncountedBodyLength, Budget.uncountedBodyLength, 100])
        #expect(written.held == [Self.length, Self.length, Self.length])
        #expect(written.whole == Self.content && written.isFinished)
        #expect(self.bytes.usage.held == 0)
    }

    @Test func aResponseWhoseClientGoesHoldsNothingMore() async throws {
        let written = Written(self.bytes, most: 1)
        let response = try self.held()
        await #expect(throws: Disconnected.self) { try await response.body.write(Writer(written: written)) }
        #expect(written.held == [Self.length] && !written.isFinished)
        #expect(self.bytes.usage.held == 0)
    }

    /// Such as that to a HEAD request.
    @Test func aResponseThatNobodyWritesHoldsNothingMore() throws {
        var response = try self.held()
        #expect(response.longBody == Self.length && self.bytes.usage.held == Self.length)
        response = response.createHeadResponse()
        #expect(response.headers[.contentLength] == "\(Self.length)" && self.bytes.usage.held == 0)
    }

    @Test func shortOnesAndStreamsOfUnknownLengthAreNotLong() {
        let short = ByteBuffer(repeating: 0x20, count: Budget.uncountedBodyLength)
        #expect(Response.content(short, "text/plain").longBody == nil)
        #expect(Response.noContent.longBody == nil)
        let stream = ResponseBody { writer in try await writer.finish(nil) }
        #expect(Response(status: .ok, body: stream).longBody == nil)
    }

    @Test func theResponsesOfOneAppLeaveBytesToAnothers() throws {
        let first = try #require(Topic("com.example.First"))
        let second = try #require(Topic("com.example.Second"))
        var held: [BudgetPermit] = []
        var refusal: BudgetRefusal?
        while refusal == nil {
            do throws(BudgetRefusal) {
                held.append(try self.bytes.take(1 << 20, for: BudgetCaller(app: first, .principal(UUID()))))
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.level == .app && refusal?.error.error.kind == .unavailable)
        #expect(throws: Never.self) { try self.bytes.take(1 << 20, for: BudgetCaller(app: second, .principal(UUID()))) }
        #expect(held.count < 128)
    }
}
