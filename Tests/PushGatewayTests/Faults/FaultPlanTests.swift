import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// The matches, the counts and the decisions of rules.
@Suite struct FaultPlanTests {
    private let now = Timestamp(seconds: 1_700_000_000)

    @Test func withoutARuleForThePointNothingIsEvenLookedAt() throws {
        let plan = try self.plan("dropAcks")
        var random = SeededGenerator(seed: 1)
        var looks = 0
        func subject() -> FaultSubject {
            looks += 1
            return Self.subject()
        }
        #expect(plan.decide(at: .request, for: subject(), random: &random, now: self.now) == nil)
        #expect(looks == 0)
    }

    @Test(
        arguments: [
            ("topic=com.example.MyApp", true), ("topic=com.example.Other", false), ("token=302bd38c", true),
            ("token=302bd38d", false), ("token=\(Vectors.tokenA)", true), ("credential=abc123defg", true),
            ("credential=ABC123DEFX", false), ("environment=sandbox", true), ("environment=production", false),
            ("door=http2", true), ("door=binary", false), ("topic=com.example.MyApp,door=binary", false),
        ]
    )
    func aRuleMeetsOnlyThoseItNames(match: String, strikes: Bool) throws {
        let plan = try self.plan("close,\(match)")
        #expect((self.decide(plan) != nil) == strikes)
        #expect(plan.entries(now: self.now).map(\.hits) == [strikes ? 1 : 0])
    }

    @Test func aBundleIDMeansItsTopicsToo() throws {
        var subject = Self.subject()
        subject.topic = Topic("com.example.MyApp.voip")
        #expect(self.decide(try self.plan("close,topic=com.example.MyApp"), subject) != nil)
        #expect(self.decide(try self.plan("close,topic=com.example.MyApp.voip")) == nil)
    }

    @Test func aRuleThatNamesWhatIsNotKnownDoesNotMeet() throws {
        let subject = FaultSubject(listener: .http2, environment: .sandbox)
        for match in ["topic=com.example.MyApp", "token=302bd38c", "credential=ABC123DEFG"] {
            #expect(self.decide(try self.plan("close,\(match)"), subject) == nil)
        }
    }

    @Test(
        arguments: [
            ("first=2", [1, 2]), ("every=3", [3, 6, 9]), ("times=2", [1, 2]), ("every=3,times=2", [3, 6]),
            ("first=6,every=3", [3, 6]), ("percent=0", []), ("", Array(1...10)),
        ] as [(String, [Int])]
    )
    func countsSayHowOften(match: String, struck: [Int]) throws {
        let plan = try self.plan("close" + (match.isEmpty ? "" : ",\(match)"))
        #expect((1...10).filter { _ in self.decide(plan) != nil } == struck)
        #expect(plan.entries(now: self.now).map(\.seen) == [10])
        #expect(plan.entries(now: self.now).map(\.hits) == [struck.count])
    }

    @Test func chanceIsFairAndTheSameForTheSameSeed() throws {
        let runs = try (0..<2).map { _ in
            let plan = try self.plan("close,percent=20")
            var random = SeededGenerator(seed: 7)
            return (0..<10_000).map { _ in
                plan.decide(at: .request, for: Self.subject(), random: &random, now: self.now) != nil
            }
        }
        #expect(runs[0] == runs[1])
        #expect((1900...2100).contains(runs[0].filter { $0 }.count))
    }

    @Test func rulesAddUpAndTheFirstOfAKindCounts() throws {
        let plan = try self.plan(
            "latency=50ms,id=slow",
            "reason=TooManyRequests,id=busy",
            "reset=CANCEL,id=reset",
            "goAway=1,id=away",
            "close,id=end",
            "streamLimit=5,after=1,id=fewer"
        )
        let decision = self.decide(plan)
        #expect(decision?.before == .wait(.milliseconds(50)))
        #expect(decision?.response == .reject(.tooManyRequests, retryAfter: nil))
        #expect(decision?.connection == .goAway(.init(after: 1)))
        #expect(decision?.streamLimit == 5)
        #expect(decision?.rules == ["slow", "busy", "away", "fewer"])
        #expect(plan.entries(now: self.now).map(\.hits) == [1, 1, 0, 1, 0, 1])
    }

    @Test func everyPointHasItsFaults() throws {
        let plan = try self.plan(
            "slow=100",
            "expiredCertificate",
            "streamLimit=1",
            "dropAcks",
            "dropDevice=2",
            "feedbackDelay=1h",
            "stall=request,door=binary",
            "stall=connection,door=binary"
        )
        let connection = self.decide(plan, at: .connection)
        #expect(connection?.bytesPerSecond == 100)
        #expect(connection?.showsExpiredCertificate == true)
        #expect(connection?.streamLimit == 1)
        var device = FaultSubject(listener: .deviceLink, environment: .sandbox)
        #expect(self.decide(plan, device, at: .acknowledgement)?.response == .drop)
        #expect(self.decide(plan, device, at: .delivery) == nil)
        device.ordinal = 2
        #expect(self.decide(plan, device, at: .delivery)?.connection == .close)
        #expect(self.decide(plan, device, at: .connection)?.streamLimit == nil, "this is not for devices")
        let feedback = FaultSubject(listener: .feedback, environment: .sandbox)
        #expect(self.decide(plan, feedback, at: .feedback)?.feedbackDelay == .seconds(3600))
        let binary = self.decide(plan, FaultSubject(listener: .binary, environment: .sandbox))
        #expect(binary?.before == .stall)
        #expect(binary?.connection == .stall)
        #expect(self.decide(plan) == nil)
    }

    @Test func whatComesAfterSoManyRequestsWaitsForThem() throws {
        let plan = try self.plan("goAway=3,times=1")
        let struck = (1...5).filter { ordinal in
            var subject = Self.subject()
            subject.ordinal = ordinal
            return self.decide(plan, subject) != nil
        }
        #expect(struck == [3])
    }

    @Test func aRuleEndsAtItsTime() throws {
        let plan = try self.plan("close,untilMs=\(self.now.milliseconds + 1000)")
        #expect(self.decide(plan) != nil)
        #expect(self.decide(plan, now: self.now.advanced(by: .seconds(1))) == nil)
        #expect(plan.entries(now: self.now).isEmpty)
        #expect(throws: RequestError.self) { try self.plan("close,untilMs=\(self.now.milliseconds)") }
    }

    @Test func rulesHaveOneIDEachAndThereIsALimit() throws {
        let plan = try self.plan("close,id=fault-1", "close")
        #expect(plan.entries(now: self.now).map(\.rule.id) == ["fault-1", "fault-2"])
        #expect(throws: RequestError.self) {
            try plan.add(FaultRule(text: "close,id=fault-2"), source: .api, now: self.now)
        }
        for _ in 2..<FaultPlan.limit {
            _ = try plan.add(FaultRule(text: "close"), source: .api, now: self.now)
        }
        #expect {
            try plan.add(FaultRule(text: "close"), source: .api, now: self.now)
        } throws: {
            ($0 as? RequestError)?.code == "too_many_faults"
        }
        #expect(plan.remove("fault-1"))
        #expect(!plan.remove("fault-1"))
        plan.removeAll()
        #expect(plan.entries(now: self.now).isEmpty)
        #expect(self.decide(plan) == nil)
    }

    @Test func aRuleOfTheStartIsNamedByItsPlace() {
        #expect {
            try self.plan("close", "close,untilMs=5")
        } throws: {
            ($0 as? RequestError)?.path == "faults[1].untilMs"
        }
    }

    @Test func latenciesStayWithinTheirBounds() throws {
        var random = SeededGenerator(seed: 3)
        func samples(_ text: String) throws -> [Duration] {
            let latency = try #require(FaultLatency(text))
            return (0..<2000).map { _ in latency.sample(using: &random) }.sorted()
        }
        #expect(try Set(samples("50ms")) == [.milliseconds(50)])
        let even = try samples("50ms..200ms")
        #expect(even.allSatisfy { (.milliseconds(50)...Duration.milliseconds(200)).contains($0) })
        #expect((.milliseconds(115)...Duration.milliseconds(135)).contains(even[1000]))
        let normal = try samples("normal:100ms/50ms")
        #expect(normal.allSatisfy { $0 >= .zero })
        #expect((.milliseconds(95)...Duration.milliseconds(105)).contains(normal[1000]))
        #expect((.milliseconds(140)...Duration.milliseconds(160)).contains(normal[1683]))
        #expect(try samples("normal:10m/10m").allSatisfy { $0 <= FaultLatency.longest })
        let percentiles = try samples("p50:20ms/p95:80ms/p99:1s")
        #expect((.milliseconds(18)...Duration.milliseconds(22)).contains(percentiles[1000]))
        #expect((.milliseconds(70)...Duration.milliseconds(200)).contains(percentiles[1900]))
        #expect(percentiles.last == .seconds(1))
    }

    private func plan(_ texts: String...) throws -> FaultPlan {
        try FaultPlan(starting: texts.map { try FaultRule(text: $0) }, now: self.now)
    }

    private func decide(
        _ plan: FaultPlan,
        _ subject: FaultSubject = subject(),
        at point: FaultPoint = .request,
        now: Timestamp? = nil
    ) -> FaultDecision? {
        var random = SeededGenerator(seed: 1)
        return plan.decide(at: point, for: subject, random: &random, now: now ?? self.now)
    }

    private static func subject() -> FaultSubject {
        FaultSubject(
            listener: .http2,
            environment: .sandbox,
            topic: Topic(Vectors.bundleID),
            token: DeviceToken(hex: Vectors.tokenA),
            credential: Vectors.keyID
        )
    }
}
