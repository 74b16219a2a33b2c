import AsyncHTTPClient
import NIOCore
import PushSupport
import PushTesting
import Testing

@testable import Dashboard

// A stream is open for five minutes by itself.
@Suite(.timeLimit(.minutes(1))) struct LivePartTests {
    @Test func aStreamEndsWithItsSession() async throws {
        try await withDashboard { provider, browser in
            try await browser.signIn("read", at: provider)
            var events = try await browser.events("/dashboard/overview/live").makeAsyncIterator()
            let first = try await events.next().map { String(buffer: $0) } ?? ""
            #expect(first.hasPrefix("event: part\n"))
            let keys = try await provider.api.get("/v1/keys").json["keys"].elements
            let id = try #require(keys.first { $0["name"] == "lesser" }?["id"].stringValue)
            #expect(try await provider.api.delete("/v1/keys/\(id)").status == .noContent)
            while try await events.next() != nil {}
        }
    }
}
