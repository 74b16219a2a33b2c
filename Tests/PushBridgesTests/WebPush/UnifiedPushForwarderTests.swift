import Foundation
import NIOHTTP1
import PushProvider
import PushSupport
import PushTesting
import PushWire
import Testing

@testable import PushBridges

@Suite(.timeLimit(.minutes(2))) struct UnifiedPushForwarderTests {
    private let body = Data(#"{"notification":{}}"#.utf8)

    private func forwarder(_ addresses: AddressPolicy = AddressPolicy(allowsPrivate: true)) -> UnifiedPushForwarder {
        UnifiedPushForwarder(client: GuardedClient(addresses: addresses), time: ManualTime())
    }

    @Test func aBodyIsPostedAsItIs() async throws {
        try await BrowserPushService.run { service in
            let end = await self.forwarder().forward(self.body, to: service.url("/up?x=1"), app: 1, isUrgent: true)
            #expect(end == .accepted)
            let post = try #require(service.posts.first)
            #expect(post.path == "/up?x=1" && post.body == Array(self.body))
            #expect(post.headers["ttl"] == ["86400"] && post.headers["urgency"] == ["high"])
        }
    }

    @Test func answersAreEnds() async throws {
        try await BrowserPushService.run { service in
            let ends: [(Int, UnifiedPushForwarder.End)] = [
                (200, .accepted), (404, .gone), (410, .gone), (413, .refused(status: 413)),
                (302, .refused(status: 302)), (500, .unavailable(retryAfter: nil)),
                (507, .unavailable(retryAfter: nil)),
            ]
            for (status, expected) in ends {
                service.script("/up", .init(status))
                let end = await self.forwarder().forward(self.body, to: service.url("/up"), app: 1, isUrgent: false)
                #expect(end == expected, "\(status)")
            }
            service.script("/up", .init(429, headers: [("retry-after", "9")]))
            let end = await self.forwarder().forward(self.body, to: service.url("/up"), app: 1, isUrgent: false)
            #expect(end == .unavailable(retryAfter: .seconds(9)))
        }
    }

    @Test func limitsHold() async throws {
        let forwarder = self.forwarder(AddressPolicy())
        #expect(await forwarder.forward(self.body, to: "http://127.0.0.1:1/x", app: 1, isUrgent: false) == .notAllowed)
        let metadata = await forwarder.forward(self.body, to: "https://169.254.169.254/", app: 1, isUrgent: false)
        #expect(metadata == .notAllowed)
        #expect(await forwarder.forward(self.body, to: "nonsense", app: 1, isUrgent: false) == .notAllowed)
        let long = "https://push.example/" + String(repeating: "a", count: 1000)
        #expect(await forwarder.forward(self.body, to: long, app: 1, isUrgent: false) == .gone)
        let large = Data(repeating: 1, count: 4097)
        let end = await forwarder.forward(large, to: "https://push.example/x", app: 1, isUrgent: false)
        #expect(end == .refused(status: 413))
    }

    @Test func aSlowPushServerLeavesRoomToOthers() throws {
        let inFlight = UnifiedPushForwarder.InFlight()
        let (slow, other) = (
            try #require(WebOrigin("https://slow.example")), try #require(WebOrigin("https://other.example"))
        )
        func begin(_ server: WebOrigin) -> Bool { inFlight.begin(server, limit: 3, ofServer: 2) }
        #expect(begin(slow) && begin(slow) && !begin(slow))
        #expect(begin(other) && !begin(other), "there are three")
        inFlight.end(slow)
        #expect(begin(slow) && !begin(slow))
        for server in [slow, slow, other] { inFlight.end(server) }
        #expect(begin(other) && begin(other) && !begin(other))
    }

    /// A homeserver repeats what fails, and forgets what is gone.
    @Test func aHomeserverLearnsWhatItHasToDo() async throws {
        try await BrowserPushService.run { service in
            let forwarder: any UnifiedPushForwarding = self.forwarder()
            for (status, outcome) in [
                (201, UnifiedPushOutcome.accepted), (400, .accepted), (413, .accepted), (404, .gone), (410, .gone),
            ] {
                service.script("/up", .init(status))
                let result = try await forwarder.forward(Array(self.body), to: service.url("/up"), app: 1)
                #expect(result == outcome, "\(status)")
            }
            service.script("/up", .init(503))
            await #expect(throws: RetryLaterError.self) {
                try await forwarder.forward(Array(self.body), to: service.url("/up"), app: 1)
            }
            let large = [UInt8](repeating: 1, count: 5000)
            #expect(try await forwarder.forward(large, to: service.url("/up"), app: 1) == .accepted)
        }
    }
}
