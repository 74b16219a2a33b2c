import Foundation
import ProviderModel
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The decisions of publishers' servers: kept, shared, and replaced while a server is down.
@Suite(.timeLimit(.patience)) struct DirectEntitlementTests {
    let publisher = ScriptedPublisher()
    /// The questions of an app, of a client, and those that wait: few, and none waits long.
    let questions = Budget(
        .entitlementQuestions,
        limits: BudgetLimits(
            .init(app: .held(6), caller: .held(2)),
            waiting: .init(app: 4, caller: 1),
            patience: .seconds(3600)
        )
    )
    let time = ManualTime()
    let direct: DirectEntitlement
    let app: Topic

    init() throws {
        let (grant, refusal, known) = (Duration.seconds(600), Duration.seconds(60), Duration.seconds(86_400))
        self.direct = DirectEntitlement(
            asking: self.publisher,
            questions: self.questions,
            cache: .init(count: 1000, grant: grant, refusal: refusal, known: known),
            time: self.time,
            log: RateLimitedLog(silentLogger, Budget(.logLines))
        )
        self.app = try #require(Topic(Vectors.bundleID))
    }

    private func server(
        _ whenDown: EntitlementServerRecord.WhenDown = .allowKnown,
        app: Int64 = 1
    ) -> EntitlementServerRecord {
        EntitlementServerRecord(
            app: app,
            url: "https://publisher.example.com/",
            whenDown: whenDown,
            secret: "secret",
            changedAt: self.time.now
        )
    }

    private func decide(
        _ products: String...,
        of account: String = "alice",
        client: UInt8? = 1,
        by server: EntitlementServerRecord
    ) async -> [DirectEntitlement.Decision] {
        let question = PublisherRequest(app: self.app, account: account, token: nil, products: products)
        return await self.direct.decide(question, server, client: client.map { .network([192, 0, 2, $0]) })
    }

    private let failure = ScriptedPublisher.Answer.failure(.status(500))

    @Test func answersAreKeptForTheirTime() async {
        let server = self.server()
        self.publisher.answer(.success(.entitled(["a"])))
        #expect(await self.decide("a", "b", by: server) == [.granted, .refused])
        #expect(await self.decide("b", "a", by: server) == [.refused, .granted])
        #expect(self.publisher.questions.count == 1)
        self.time.advance(by: .seconds(60))
        // The refusal is asked for again, the grant is not.
        #expect(await self.decide("a", "b", by: server) == [.granted, .refused])
        #expect(self.publisher.questions.map(\.products) == [["a", "b"], ["b"]])
        // Another account has answers of its own, and so has the server after a change.
        #expect(await self.decide("a", of: "bob", by: server) == [.granted])
        #expect(await self.decide("a", by: self.server()) == [.granted])
        #expect(self.publisher.questions.count == 4)
    }

    @Test func aListOfEverythingSavesQuestions() async {
        let server = self.server()
        self.publisher.answer(.success(.entitled(["a", "b", "c"])))
        #expect(await self.decide("a", by: server) == [.granted])
        #expect(await self.decide("b", "c", by: server) == [.granted, .granted])
        #expect(self.publisher.questions.count == 1)
    }

    @Test func aRefusedAccountIsNotAskedAboutAtOnce() async {
        let server = self.server()
        self.publisher.answer(.success(.accountRefused))
        #expect(await self.decide("a", by: server) == [.accountRefused])
        #expect(await self.decide("a", by: server) == [.accountRefused])
        #expect(self.publisher.questions.count == 1)
        // The token was renewed.
        let question = PublisherRequest(app: self.app, account: "alice", token: "new", products: ["a"])
        self.publisher.answer(.success(.entitled(["a"])))
        #expect(await self.direct.decide(question, server, client: .app) == [.granted])
    }

    @Test func checksOfOneAccountAskOnce() async throws {
        let server = self.server()
        self.publisher.answer(.success(.entitled(["a"])))
        self.publisher.hold()
        try await withThrowingTaskGroup(of: [DirectEntitlement.Decision].self) { group in
            for _ in 0..<50 { group.addTask { await self.decide("a", by: server) } }
            try await eventually { self.direct.waiting >= 50 }
            self.publisher.release()
            for try await decision in group { #expect(decision == [.granted]) }
        }
        #expect(self.publisher.questions.count == 1)
    }

    /// Those that want to know more ask once more.
    @Test func checksOfOtherProductsFollow() async throws {
        let server = self.server()
        self.publisher.answer(.success(.entitled(["a"])))
        self.publisher.hold()
        async let first = self.decide("a", by: server)
        try await self.publisher.waitForQuestions(1)
        async let second = self.decide("a", "b", by: server)
        try await eventually { self.direct.waiting >= 2 }
        self.publisher.release()
        #expect(await first == [.granted])
        #expect(await second == [.granted, .refused])
        #expect(self.publisher.questions.map(\.products).allSatisfy { $0 != ["a", "b"] })
    }

    @Test func aFailureIsSharedToo() async throws {
        let server = self.server()
        self.publisher.answer(self.failure)
        self.publisher.hold()
        try await withThrowingTaskGroup(of: [DirectEntitlement.Decision].self) { group in
            for _ in 0..<20 { group.addTask { await self.decide("a", by: server) } }
            try await eventually { self.direct.waiting >= 20 }
            self.publisher.release()
            for try await decision in group { #expect(decision == [.unavailable(retryAfter: .seconds(10))]) }
        }
        #expect(self.publisher.questions.count == 1)
    }

    /// No app can make a publisher's server count as down by what it asks.
    @Test func refusedQuestionsDoNotOpenTheBreaker() async {
        let server = self.server(.allow)
        self.publisher.answer(.success(.questionRefused(status: 400)))
        for number in 0..<20 {
            #expect(await self.decide("a", of: "nonsense \(number)", by: server) == [.refused])
        }
        self.publisher.answer(.success(.entitled(["a"])))
        #expect(await self.decide("a", by: server) == [.granted])
        #expect(self.publisher.questions.count == 21)
    }

    @Test func aCheckThatIsCancelledWaitsNoLonger() async throws {
        let server = self.server()
        self.publisher.answer(.success(.entitled(["a"])))
        self.publisher.hold()
        let gone = Task { await self.decide("a", by: server) }
        try await eventually { self.direct.waiting >= 1 }
        gone.cancel()
        #expect(await gone.value == [.unavailable(retryAfter: .seconds(10))])
        // The question was not in vain.
        async let next = self.decide("a", by: server)
        try await eventually { self.direct.waiting >= 1 }
        self.publisher.release()
        #expect(await next == [.granted])
        #expect(self.publisher.questions.count == 1)
    }

    @Test(arguments: EntitlementServerRecord.WhenDown.allCases)
    func theAppDecidesWhatHoldsWhileItsServerIsDown(whenDown: EntitlementServerRecord.WhenDown) async {
        let server = self.server(whenDown)
        self.publisher.script(.success(.entitled(["known"])))
        _ = await self.decide("known", "refused", by: server)
        self.time.advance(by: .seconds(3600))
        self.publisher.answer(.failure(.noResponse(reason: "gone")))
        for number in 0..<5 { _ = await self.decide("any", of: "reader \(number)", by: server) }
        let expected: [DirectEntitlement.Decision] =
            switch whenDown {
            case .refuse: [.refusedWhileDown, .refusedWhileDown]
            case .allow: [.granted, .granted]
            case .allowKnown: [.granted, .unavailable(retryAfter: .seconds(10))]
            }
        #expect(await self.decide("known", "refused", by: server) == expected)
        self.time.advance(by: .seconds(86_400))
        guard whenDown == .allowKnown else { return }
        #expect(await self.decide("known", by: server) == [.unavailable(retryAfter: .seconds(10))])
    }

    /// It may be the doing of the one who asks, such as a token on which the server fails.
    @Test(arguments: [PublisherFailure.status(500), .malformed(reason: "empty"), .noResponse(reason: "too slow")])
    func oneFailureEntitlesNobody(failure: PublisherFailure) async {
        let server = self.server(.allow)
        self.publisher.script(.failure(failure))
        #expect(await self.decide("a", of: "odd", by: server) == [.unavailable(retryAfter: .seconds(10))])
        #expect(await self.decide("a", of: "odd", by: server) == [.refused])
    }

    /// Behind a proxy on the same machine, where all readers have one address.
    @Test func aServerThatIsSilentIsDownBehindAProxyToo() async {
        let server = self.server(.allow)
        self.publisher.answer(self.failure)
        for number in 0..<50 {
            let decisions = await self.decide("a", of: "odd \(number)", client: nil, by: server)
            #expect(decisions == [.unavailable(retryAfter: .seconds(10))])
        }
        self.publisher.answer(.failure(.noResponse(reason: "gone")))
        for number in 0..<4 { _ = await self.decide("a", of: "reader \(number)", client: nil, by: server) }
        #expect(await self.decide("a", of: "reader 4", client: nil, by: server) == [.granted])
        #expect(self.publisher.questions.count == 55)
        #expect(await self.decide("a", of: "reader 5", client: nil, by: server) == [.granted])
        #expect(self.publisher.questions.count == 55, "it is left alone")
    }

    /// There an account has the share that a client has elsewhere.
    @Test func readersBehindAProxyTakeTurnsByAccount() async throws {
        let server = self.server()
        self.publisher.answer(.success(.entitled(["a"])))
        self.publisher.hold()
        try await withThrowingTaskGroup(of: [DirectEntitlement.Decision].self) { group in
            for number in 0..<6 {
                group.addTask { await self.decide("a", of: "reader \(number)", client: nil, by: server) }
            }
            try await self.publisher.waitForQuestions(6)
            self.publisher.release()
            for try await decision in group { #expect(decision == [.granted]) }
        }
    }

    @Test func aServerThatFailsIsLeftAlone() async {
        let server = self.server()
        self.publisher.answer(self.failure)
        for client in 0..<20 { _ = await self.decide("a", client: UInt8(client), by: server) }
        #expect(self.publisher.questions.count == 5)
        #expect(await self.decide("a", by: server) == [.unavailable(retryAfter: .seconds(10))])
        // The server of another app is not concerned.
        self.publisher.script(.success(.entitled(["a"])))
        #expect(await self.decide("a", by: self.server(app: 2)) == [.granted])
        // After the pause one question finds out.
        self.time.advance(by: .seconds(10))
        self.publisher.answer(.success(.entitled(["a"])))
        #expect(await self.decide("a", by: server) == [.granted])
        #expect(await self.decide("a", of: "bob", by: server) == [.granted])
        #expect(self.publisher.questions.count == 8)
    }

    /// A server that fails on odd tokens is asked about the accounts of others.
    @Test func failuresOfOneClientDoNotOpenTheBreaker() async {
        let server = self.server(.allow)
        self.publisher.answer(self.failure)
        for number in 0..<50 { _ = await self.decide("a", of: "odd \(number)", client: 9, by: server) }
        #expect(self.publisher.questions.count == 50)
        self.publisher.answer(.success(.entitled([])))
        // With an open breaker it would be granted.
        #expect(await self.decide("a", of: "bob", by: server) == [.refused])
    }

    /// An operator who corrects the URL does not wait for the end of the pause.
    @Test func aChangedServerIsAskedAtOnce() async {
        let server = self.server()
        self.publisher.answer(self.failure)
        for client in 0..<5 { _ = await self.decide("a", client: UInt8(client), by: server) }
        self.publisher.answer(.success(.entitled(["a"])))
        #expect(await self.decide("a", by: self.server()) == [.granted])
    }

    private static func isTooMany(_ decisions: [DirectEntitlement.Decision]) -> Bool {
        guard case .tooMany(let refusal)? = decisions.first, decisions.count == 1 else { return false }
        let error = refusal.error
        return error.error.code == "too_many_questions" && error.error.kind == .unavailable && error.delay > .zero
    }

    /// Whatever the app wants while its server is down: the server is not down, and would refuse.
    @Test(arguments: EntitlementServerRecord.WhenDown.allCases)
    func tooManyQuestionsAreNeverDown(whenDown: EntitlementServerRecord.WhenDown) async throws {
        let server = self.server(whenDown)
        self.publisher.answer(.success(.entitled([])))
        self.publisher.hold()
        try await withThrowingTaskGroup(of: [DirectEntitlement.Decision].self) { group in
            // Six have places, four more wait, and four have the first places of those with nothing waiting.
            for number in 0..<14 {
                group.addTask { await self.decide("a", of: "reader \(number)", client: UInt8(number), by: server) }
            }
            try await eventually { self.questions.usage == (6, 8) }
            for client in 0..<20 {
                let decisions = await self.decide("a", of: "more \(client)", client: UInt8(client), by: server)
                #expect(Self.isTooMany(decisions), "\(decisions)")
            }
            self.publisher.release()
            for try await decision in group { #expect(decision == [.refused]) }
        }
        #expect(self.publisher.questions.count == 14)
        // Nothing was opened by it.
        #expect(await self.decide("a", of: "another", by: server) == [.refused])
    }

    /// The resolver of the provider is no part of the server.
    @Test(arguments: EntitlementServerRecord.WhenDown.allCases)
    func aServerThatCannotBeAskedIsNeverDown(whenDown: EntitlementServerRecord.WhenDown) async {
        let server = self.server(whenDown)
        self.publisher.answer(.failure(.notAsked(reason: "too many names")))
        for client in 0..<20 {
            let decisions = await self.decide("a", of: "reader \(client)", client: UInt8(client), by: server)
            #expect(Self.isTooMany(decisions), "\(decisions)")
        }
        self.publisher.answer(.success(.entitled([])))
        #expect(await self.decide("a", by: server) == [.refused])
    }

    /// A client with many questions, and as many networks, leaves places for another.
    @Test func clientsHaveAShareOfTheQuestions() async throws {
        let server = self.server(.allow)
        self.publisher.answer(.success(.entitled([])))
        self.publisher.hold()
        try await withThrowingTaskGroup(of: [DirectEntitlement.Decision].self) { group in
            for number in 0..<40 {
                let question = PublisherRequest(app: self.app, account: "odd \(number)", token: nil, products: ["a"])
                let network: [UInt8] = [0x20, 1, 0xd, 0xb8, 0, 1, 0, UInt8(number)]
                group.addTask { await self.direct.decide(question, server, client: .network(network)) }
            }
            try await self.publisher.waitForQuestions(2)
            var tooMany = 0
            while tooMany < 37 {
                let decisions = try #require(try await group.next())
                #expect(Self.isTooMany(decisions))
                tooMany += 1
            }
            async let other = self.decide("a", of: "bob", client: 1, by: server)
            try await self.publisher.waitForQuestions(3)
            self.publisher.release()
            #expect(await other == [.refused])
            for try await decision in group { #expect(decision == [.refused]) }
        }
    }

    /// The place that another client lacks says nothing about this one.
    @Test func aCheckAsksItselfWhereTheQuestionOfAnotherHadNoPlace() async throws {
        let server = self.server(.refuse)
        self.publisher.answer(.success(.entitled(["a"])))
        let places = try (0..<2).map { _ in
            try self.questions.take(for: BudgetCaller(app: self.app, .network([192, 0, 2, 9])))
        }
        async let waiting = self.decide("a", of: "waits", client: 9, by: server)
        try await eventually { self.questions.usage.waiting >= 1 }
        #expect(Self.isTooMany(await self.decide("a", of: "alice", client: 9, by: server)))
        #expect(await self.decide("a", of: "alice", client: 1, by: server) == [.granted])
        for place in places { place.end() }
        #expect(await waiting == [.granted])
    }
}
