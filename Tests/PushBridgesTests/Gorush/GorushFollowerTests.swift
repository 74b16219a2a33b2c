import ProviderAPI
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

@Suite(.timeLimit(.patience)) struct GorushFollowerTests {
    /// Before, one app's tokens took all, and the outcomes of others were not followed.
    @Test func theTokensInMemoryAreLimitedByApp() throws {
        let budget = Budget(.followedOutcomes)
        let (first, second) = (try #require(Topic("com.example.First")), try #require(Topic("com.example.Second")))
        var held: [BudgetPermit] = []
        while let place = try? budget.take(10_050, for: BudgetCaller(app: first)) { held.append(place) }
        #expect((20...25).contains(held.count), "half of all")
        let other = try budget.take(10_050, for: BudgetCaller(app: second))
        other.end()
        for place in held { place.end() }
        #expect(budget.usage.held == 0)
    }

    /// Before, hooks that never answered had a connection for each notification with a failure.
    @Test func hooksThatNeverAnswerHoldAFewPostsOfTheirApp() async throws {
        let parts = OneShotValue<ProviderComponents>()
        try await SilentServer.run { port in
            try await withBridges(capture: { parts.resolve(.success($0)) }) { provider in
                try await provider.api.post("/v1/apps", ["bundleId": "com.example.Second"])
                try await Self.check(parts.value, server: "http://127.0.0.1:\(port)")
            }
        }
    }

    private static func check(_ parts: ProviderComponents, server: String) async throws {
        func app(_ name: String) async throws -> AppRecord {
            let topic = try #require(Topic(name))
            return try #require(try await parts.store.app(bundleID: topic))
        }
        let (first, second) = (try await app(Vectors.bundleID), try await app("com.example.Second"))
        let client = RestrictedHTTPClient(
            addresses: AddressPolicy(allowsPrivate: true),
            resolver: parts.resolver,
            source: .settings,
            deadline: .patience
        )
        let follower = GorushFollower(
            PushSubmission(parts: parts),
            GorushStatistics(),
            client: client,
            budgets: parts.budgets,
            logger: silentLogger
        )
        let notification = try GorushRequestTests.notification(["tokens": ["zz"], "message": "It is ready"])
        let failure = GorushLogEntry(notification, token: "zz", error: "BadDeviceToken")
        try await withServices([follower]) {
            let hook = "\(server)/hook"
            for _ in 1...12 { follower.report([failure], bridge: "first", hook: hook, of: first) }
            try await eventually { follower.posts.usage == (4, 8) }
            // Another hook of the app finds a place.
            for _ in 1...6 { follower.report([failure], bridge: "first", hook: "\(server)/other", of: first) }
            try await eventually { follower.posts.usage == (8, 10) }
            #expect(follower.posts.usage(of: BudgetCaller(app: first.bundleID, .name(hook))) == (4, 8))
            follower.report([failure], bridge: "second", hook: hook, of: second)
            try await eventually { follower.posts.usage == (9, 10) }
            #expect(follower.posts.usage(of: BudgetCaller(app: second.bundleID, .name(hook))) == (1, 0))
        }
        // The end of the service ends them.
        try await eventually { follower.posts.usage == (0, 0) }
    }

    @Test func allAppsHaveSixtyFourPostsAtATime() throws {
        let budget = Budget(.webhookPosts, limits: GorushFollower.postLimits)
        var held: [BudgetPermit] = []
        for number in 1...9 {
            for hook in ["first", "second", "third"] {
                let caller = BudgetCaller(app: Topic("com.example.App\(number)"), .name(hook))
                while let place = try? budget.take(for: caller) { held.append(place) }
                #expect(budget.usage(of: caller).held == (number <= 8 && hook != "third" ? 4 : 0))
            }
        }
        #expect(held.count == 64)
    }
}
