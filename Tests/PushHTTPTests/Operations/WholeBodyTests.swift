import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Testing

/// The bodies of requests, and the memory that they take.
@Suite(.timeLimit(.patience)) struct WholeBodyTests {
    private static let small = Budget.uncountedBodyLength
    private let caller = BudgetCaller(.principal(UUID()))

    private static func bytes(_ whole: Int) -> Budget {
        Budget(.bodyBytes, limits: BudgetLimits(.init(whole: .held(whole), app: .timesFree(2), caller: .timesFree(1))))
    }

    /// Returns a request whose body arrives in parts, and ends with an error if the client goes.
    private static func request(_ parts: [Int], announced: Int? = nil, breaks: Bool = false) -> Request {
        var head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
        head.headerFields[.contentLength] = announced.map(String.init)
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        for part in parts { continuation.yield(ByteBuffer(repeating: 0x20, count: part)) }
        continuation.finish(throwing: breaks ? ChannelError.inputClosed : nil)
        return Request(head: head, body: .init(asyncSequence: stream))
    }

    @Test func aSmallBodyTakesNothing() async throws {
        let bytes = Self.bytes(1)
        let (body, held) = try await Self.request([10, Self.small - 10], announced: Self.small)
            .wholeBody(maximum: 1 << 20, from: bytes, for: self.caller)
        #expect(body.count == Self.small)
        #expect(held == nil)
    }

    @Test func aLongBodyTakesItsLengthUntilItsResponse() async throws {
        let bytes = Self.bytes(1 << 20)
        let length = 2 * Self.small
        let (body, held) = try await Self.request([length], announced: length)
            .wholeBody(maximum: 1 << 20, from: bytes, for: self.caller)
        #expect(body.count == length)
        #expect(bytes.usage.held == length)
        held?.end()
        #expect(bytes.usage.held == 0)
    }

    /// Without a length it may become the longest; once it is read it takes what it is.
    @Test func aBodyWithoutALengthTakesTheMaximum() async throws {
        let length = Self.small + 1
        let enough = Self.bytes(1 << 20)
        let (_, held) = try await Self.request([Self.small, 1])
            .wholeBody(maximum: 1 << 19, from: enough, for: self.caller)
        #expect(held != nil)
        #expect(enough.usage.held == length)
        let few = Self.bytes(1 << 20)
        let others = try few.take(1 << 19, for: BudgetCaller(.principal(UUID())))
        await #expect(throws: BudgetRefusal.self) {
            try await Self.request([Self.small, 1]).wholeBody(maximum: 3 << 18, from: few, for: self.caller)
        }
        others.end()
        #expect(few.usage.held == 0)
    }

    /// What a stranger announces holds nothing, and what has arrived holds little more than its length.
    @Test func aStrangersBodyTakesWhatHasArrived() async throws {
        let (bytes, small) = (Self.bytes(4 << 20), Self.small)
        let (_, nothing) = try await Self.request([10], announced: 1 << 20)
            .wholeBody(maximum: 1 << 20, from: bytes, for: self.caller, asItArrives: true)
        #expect(nothing == nil)
        var head = HTTPRequest(method: .post, scheme: nil, authority: nil, path: "/")
        head.headerFields[.contentLength] = String(1 << 20)
        let (stream, continuation) = AsyncThrowingStream.makeStream(of: ByteBuffer.self)
        let request = Request(head: head, body: .init(asyncSequence: stream))
        let reading = Task { [caller] in
            try await request.wholeBody(maximum: 1 << 20, from: bytes, for: caller, asItArrives: true)
        }
        for (part, held) in [(small + 1, small + 1), (1, 2 * small + 1), (small, 3 * small + 1)] {
            continuation.yield(ByteBuffer(repeating: 0x20, count: part))
            try await eventually { bytes.usage.held == held }
        }
        continuation.finish()
        let (body, permit) = try await reading.value
        #expect(body.count == 2 * small + 2 && bytes.usage.held == body.count)
        permit?.end()
        #expect(bytes.usage.held == 0)
    }

    @Test func aStrangersBodyWithoutRoomIsRefused() async throws {
        let bytes = Self.bytes(4 * Self.small)
        let parts = Array(repeating: Self.small, count: 3)
        await #expect(throws: BudgetRefusal.self) {
            try await Self.request(parts).wholeBody(maximum: 1 << 20, from: bytes, for: self.caller, asItArrives: true)
        }
        #expect(bytes.usage.held == 0)
    }

    @Test func aRefusedBodyIsNotRead() async throws {
        let bytes = Self.bytes(1 << 20)
        let own = try bytes.take(1 << 19, for: self.caller)
        // A part of it would be an error.
        let request = Self.request([], announced: 1 << 19, breaks: true)
        await #expect(throws: BudgetRefusal.self) {
            try await request.wholeBody(maximum: 1 << 20, from: bytes, for: self.caller)
        }
        own.end()
        #expect(bytes.usage.held == 0)
    }

    @Test func nothingIsHeldForABodyThatFails() async throws {
        let bytes = Self.bytes(1 << 20)
        let gone = Self.request([1000], announced: 1 << 19, breaks: true)
        await #expect(throws: ChannelError.self) {
            try await gone.wholeBody(maximum: 1 << 19, from: bytes, for: self.caller)
        }
        #expect(bytes.usage.held == 0)
        let long = Self.request([Self.small, Self.small])
        await #expect(throws: RequestError.self) {
            try await long.wholeBody(maximum: Self.small + 1, from: bytes, for: self.caller)
        }
        #expect(bytes.usage.held == 0)
    }

    @Test func theBodiesOfOneAppLeaveBytesToAnothers() throws {
        let bytes = Budget(.bodyBytes)
        let (first, second) = (try #require(Topic("com.example.First")), try #require(Topic("com.example.Second")))
        var held: [BudgetPermit] = []
        var refusal: BudgetRefusal?
        while refusal == nil {
            do throws(BudgetRefusal) {
                held.append(try bytes.take(8 << 20, for: BudgetCaller(app: first, .principal(UUID()))))
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.level == .app)
        #expect(refusal?.error.error.kind == .unavailable)
        #expect((refusal?.delay ?? .zero) > .zero)
        #expect(throws: Never.self) { try bytes.take(8 << 20, for: BudgetCaller(app: second, .principal(UUID()))) }
        #expect(held.count < 16)
    }
}
