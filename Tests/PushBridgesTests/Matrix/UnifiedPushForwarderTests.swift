import Foundation
import NIOHTTP1
import PushProvider
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct UnifiedPushForwarderTests {
    private typealias Answer = BrowserPushService.Answer

    private let body = Data(#"{"notification":{}}"#.utf8)
    private let client = BudgetCaller(.network([192, 0, 2, 1]))
    /// The answer of an endpoint to the question whether it is one.
    private let discovery = Answer(200, body: #"{"unifiedpush":{"version":1}}"#)

    private func forwarder(
        _ addresses: AddressPolicy = AddressPolicy(allowsPrivate: true),
        budgets: BudgetRegistry = BudgetRegistry()
    ) -> UnifiedPushForwarder {
        let client = RestrictedHTTPClient(
            addresses: addresses,
            resolver: SystemResolver(budgets),
            source: .strangers,
            deadline: .patience
        )
        return UnifiedPushForwarder(client: client, budgets: budgets, time: ManualTime())
    }

    private func forward(
        _ forwarder: UnifiedPushForwarder,
        _ body: Data? = nil,
        to endpoint: String,
        for client: BudgetCaller? = nil,
        isUrgent: Bool = false
    ) async throws -> UnifiedPushForwarder.End {
        let app = (id: Int64(1), bundleID: try #require(Topic(Vectors.bundleID)))
        return try await forwarder.forward(
            body ?? self.body,
            to: endpoint,
            app: app,
            for: client ?? self.client,
            isUrgent: isUrgent
        )
    }

    @Test func aBodyIsPostedAsItIs() async throws {
        try await BrowserPushService.run { service in
            service.script("/up?x=1", self.discovery)
            let end = try await self.forward(self.forwarder(), to: service.url("/up?x=1"), isUrgent: true)
            #expect(end == .accepted)
            #expect(service.posts.map(\.method) == ["GET", "POST"])
            let post = try #require(service.posts.last)
            #expect(post.path == "/up?x=1" && post.body == Array(self.body))
            #expect(post.headers["ttl"] == ["86400"] && post.headers["urgency"] == ["high"])
        }
    }

    /// Strangers name any address, which gets no post of theirs.
    @Test func nothingIsPostedToWhatIsNoEndpoint() async throws {
        try await BrowserPushService.run { service in
            let answers = [
                Answer(200, body: "<html>"), Answer(200, body: #"{"unifiedpush":{"gateway":"matrix"}}"#), Answer(201),
                Answer(302, headers: [("location", service.url("/up"))]), Answer(405),
                Answer(200, body: String(repeating: " ", count: 2000) + #"{"unifiedpush":{"version":1}}"#),
            ]
            for (number, answer) in answers.enumerated() {
                service.script("/\(number)", answer, self.discovery)
                let forwarder = self.forwarder()
                #expect(try await self.forward(forwarder, to: service.url("/\(number)")) == .noEndpoint, "\(number)")
                // It is not asked again at once.
                #expect(try await self.forward(forwarder, to: service.url("/\(number)")) == .noEndpoint)
            }
            #expect(service.posts.count == answers.count && service.posts.allSatisfy { $0.method == "GET" })
            service.script("/gone", Answer(404))
            let gone = try await self.forward(self.forwarder(), to: service.url("/gone"))
            #expect(gone == .gone)
            service.script("/busy", Answer(503))
            let busy = try await self.forward(self.forwarder(), to: service.url("/busy"))
            #expect(busy == .unavailable(retryAfter: nil))
        }
    }

    @Test func answersAreEnds() async throws {
        try await BrowserPushService.run { service in
            let ends: [(Int, UnifiedPushForwarder.End)] = [
                (200, .accepted), (413, .refused(status: 413)), (302, .refused(status: 302)),
                (500, .unavailable(retryAfter: nil)), (507, .unavailable(retryAfter: nil)), (404, .gone),
            ]
            let forwarder = self.forwarder()
            service.script("/up", self.discovery)
            for (status, expected) in ends {
                service.script("/up", .init(status))
                let end = try await self.forward(forwarder, to: service.url("/up"))
                #expect(end == expected, "\(status)")
            }
            // What is gone is asked again.
            service.script("/up", self.discovery, .init(429, headers: [("retry-after", "9")]))
            let busy = try await self.forward(forwarder, to: service.url("/up"))
            #expect(busy == .unavailable(retryAfter: .seconds(9)))
        }
    }

    @Test func limitsHold() async throws {
        let forwarder = self.forwarder(AddressPolicy())
        #expect(try await self.forward(forwarder, to: "http://127.0.0.1:1/x") == .notAllowed)
        #expect(try await self.forward(forwarder, to: "https://169.254.169.254/") == .notAllowed)
        #expect(try await self.forward(forwarder, to: "nonsense") == .notAllowed)
        let long = "https://push.example/" + String(repeating: "a", count: 1000)
        #expect(try await self.forward(forwarder, to: long) == .gone)
        let large = Data(repeating: 1, count: 4097)
        #expect(try await self.forward(forwarder, large, to: "https://push.example/x") == .refused(status: 413))
    }

    @Test func addressesThatWereNeverAskedHaveASmallRate() async throws {
        try await BrowserPushService.run { service in
            let limits = BudgetLimits(.init(caller: .rate(perSecond: 0.001, burst: 2)))
            let forwarder = self.forwarder(budgets: BudgetRegistry([.unknownTokens: limits]))
            service.script("/a", self.discovery)
            for _ in 0..<3 { #expect(try await self.forward(forwarder, to: service.url("/a")) == .accepted) }
            _ = try await self.forward(forwarder, to: service.url("/b"))
            await #expect(throws: BudgetRefusal.self) { try await self.forward(forwarder, to: service.url("/c")) }
            #expect(try await self.forward(forwarder, to: service.url("/a")) == .accepted)
        }
    }

    @Test func slowPushServersAndStrangersLeaveRoomToOthers() throws {
        let forwarder = self.forwarder()
        let app = try #require(Topic(Vectors.bundleID))
        var held: [[BudgetPermit]] = []
        func take(_ host: String, of app: Topic, for client: [UInt8]) -> Int {
            let client = BudgetCaller(.network(client))
            let places = (0..<300).compactMap { _ in try? forwarder.places(of: app, at: host, for: client) }
            held += places
            return places.count
        }
        // One site names one host after the other, from as many networks as it has.
        let stranger = (0..<20 as Range<UInt8>).map { number in
            take("slow\(number).example", of: app, for: [0x20, 1, 0xd, 0xb8, 0, 1, 0, number])
        }
        #expect(stranger == [8, 8, 8, 8] + Array(repeating: 0, count: 16))
        let others = (0..<3 as Range<UInt8>).map { take("a.example", of: app, for: [192, 0, 2, $0]) }
        #expect(others == [8, 8, 0], "a stranger has half of a host")
        let all = (10..<40 as Range<UInt8>).map { take("\($0).example", of: app, for: [192, 0, 2, $0]) }
        #expect(all.last == 0 && held.count < 180)
        let other = try #require(Topic("com.example.Other"))
        #expect(take("a.example", of: other, for: [192, 0, 2, 1]) == 8)
        for place in held.joined() { place.end() }
        #expect(take("a.example", of: app, for: [192, 0, 2, 2]) == 8)
    }

    /// The host is the one that the users of an app have, and never answers the stranger.
    @Test func aStrangerDoesNotHoldAHost() async throws {
        try await BrowserPushService.run { service in
            let forwarder = self.forwarder()
            for number in 0..<8 { service.script("/\(number)", .silence) }
            service.script("/up", self.discovery)
            let stranger = BudgetCaller(.network([192, 0, 2, 2]))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    let url = service.url("/\(number)")
                    group.addTask { _ = try await self.forward(forwarder, to: url, for: stranger) }
                }
                try await service.waitForPosts(8)
                let refusal = await #expect(throws: BudgetRefusal.self) {
                    try await self.forward(forwarder, to: service.url("/8"), for: stranger)
                }
                #expect(refusal?.resource == .clientHostForwards)
                #expect(try await self.forward(forwarder, to: service.url("/up")) == .accepted)
                group.cancelAll()
            }
        }
    }

    /// A homeserver repeats what fails, and forgets what is gone.
    @Test func aHomeserverLearnsWhatItHasToDo() async throws {
        let app = try MatrixVectors.app()
        try await BrowserPushService.run { service in
            for (status, outcome) in [
                (201, UnifiedPushOutcome.accepted), (400, .accepted), (413, .accepted), (404, .gone), (410, .gone),
            ] {
                let forwarder: any NotificationForwarder = self.forwarder()
                service.script("/\(status)", self.discovery, .init(status))
                let url = service.url("/\(status)")
                let result = try await forwarder.forward(Array(self.body), to: url, of: app, for: self.client)
                #expect(result == outcome, "\(status)")
            }
            let forwarder: any NotificationForwarder = self.forwarder()
            service.script("/up", self.discovery, .init(503))
            await #expect(throws: RetryLaterError.self) {
                try await forwarder.forward(Array(self.body), to: service.url("/up"), of: app, for: self.client)
            }
            let large = [UInt8](repeating: 1, count: 5000)
            let dropped = try await forwarder.forward(large, to: service.url("/up"), of: app, for: self.client)
            #expect(dropped == .accepted)
        }
    }
}
