import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushSupport
import PushTesting
import Synchronization
import Testing

@testable import Dashboard

// A stream is open for five minutes by itself.
@Suite(.timeLimit(.patience)) struct LivePartTests {
    /// The renderings of a part, one after the other.
    private final class Script: Sendable {
        private let steps: Mutex<[Result<LivePart.Update, RequestError>]>

        init(_ steps: [Result<LivePart.Update, RequestError>]) {
            self.steps = Mutex(steps)
        }

        func next() throws -> LivePart.Update {
            let step = self.steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            guard let step else { return LivePart.Update(html: "", isFinal: true) }
            return try step.get()
        }
    }

    private final class Written: Sendable {
        private let collected = Mutex("")

        var text: String { self.collected.withLock { $0 } }

        func append(_ text: String) { self.collected.withLock { $0 += text } }
    }

    private struct Writer: ResponseBodyWriter {
        let written: Written

        mutating func write(_ buffer: ByteBuffer) async throws { self.written.append(String(buffer: buffer)) }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private static func error(_ kind: RequestError.Kind) -> Result<LivePart.Update, RequestError> {
        .failure(RequestError(kind, code: "refused", message: "refused"))
    }

    /// Open tabs leave connections for others, and a response that is never written holds no place.
    @Test func aHolderHasAFewStreams() {
        let part = LivePart(liveStreams: Budget(.livePages)) { nil }
        let (holder, other) = (UUID(), UUID())
        var open = (1...4).map { _ in part.response(for: holder) }
        #expect(open.allSatisfy { $0.status == .ok })
        #expect(part.response(for: holder).status == .noContent && part.response(for: other).status == .ok)
        open.removeLast()
        #expect(part.response(for: holder).status == .ok)
    }

    @Test(arguments: [RequestError.Kind.rateLimited, .unavailable])
    func aRefusalForAMomentLeavesThePartAndTheStream(_ kind: RequestError.Kind) async throws {
        let script = Script([
            Self.error(kind), .success(.init(html: "first")), Self.error(kind),
            .success(.init(html: "last", isFinal: true)),
        ])
        let written = Written()
        let response = LivePart(liveStreams: Budget(.livePages), interval: .zero) { try script.next() }.response(
            for: UUID()
        )
        try await response.body.write(Writer(written: written))
        #expect(written.text.contains("first") && written.text.contains("last") && written.text.contains("event: end"))
    }

    @Test(arguments: [RequestError.Kind.notFound, .forbidden, .unauthenticated, .internalError])
    func anyOtherErrorEndsTheStream(_ kind: RequestError.Kind) async throws {
        let script = Script([Self.error(kind), .success(.init(html: "never"))])
        let written = Written()
        let response = LivePart(liveStreams: Budget(.livePages), interval: .zero) { try script.next() }.response(
            for: UUID()
        )
        await #expect(throws: RequestError.self) { try await response.body.write(Writer(written: written)) }
        #expect(written.text.isEmpty)
    }

    @Test func aStreamEndsWithItsSession() async throws {
        try await withDashboard { provider, browser in
            try await browser.signIn("read", at: provider)
            var events = try await browser.events("/dashboard/overview/live").makeAsyncIterator()
            let first = try await events.next().map { String(buffer: $0) } ?? ""
            #expect(first.hasPrefix("event: part\n"))
            let keys = try await provider.api.get("/v1/keys").json["keys"].elements
            let id = try #require(keys.first { $0["name"] == "lesser" }?["id"].stringValue)
            #expect(try await provider.api.delete("/v1/keys/\(id)").status == 204)
            while try await events.next() != nil {}
        }
    }
}
