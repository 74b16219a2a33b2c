import Hummingbird
import PushHTTP
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushGateway

/// `/v1/faults` over HTTP.
@Suite(.timeLimit(.patience)) struct AdminFaultsControllerTests {
    @Test func faultsComeAndGo() async throws {
        let time = ManualTime()
        let plan = try FaultPlan(starting: [try FaultRule(text: "dropAcks,percent=50")], now: time.now)
        try await Self.with(plan, time) { admin in
            let added = try await admin.post("/v1/faults", ["reason": "TooManyRequests", "percent": 20])
            #expect(added.status == 201)
            #expect(added.json["rule"]["id"] == "fault-2")
            var random = SeededGenerator(seed: 1)
            for _ in 0..<100 {
                let subject = FaultSubject(listener: .http2, environment: .sandbox)
                _ = plan.decide(at: .request, for: subject, random: &random, now: time.now)
            }
            let faults = try await admin.get("/v1/faults").json["faults"].elements
            #expect(faults.map { $0["source"] } == ["start", "api"])
            #expect(
                faults.map { $0["text"] } == [
                    "dropAcks,percent=50,id=fault-1", "reason=TooManyRequests,percent=20,id=fault-2",
                ]
            )
            #expect(faults.map { $0["seen"] } == [0, 100])
            #expect((5...35).contains(try #require(faults.last?["hits"].integerValue)))

            #expect(try await admin.delete("/v1/faults/fault-1").status == 204)
            #expect(try await admin.delete("/v1/faults/fault-1").code == "no_such_fault")
            #expect(try await admin.delete("/v1/faults").status == 204)
            #expect(try await admin.get("/v1/faults").json["faults"].elements.isEmpty)
        }
    }

    @Test func aRuleThatWasListedCanBeGivenAgain() async throws {
        try await Self.with(FaultPlan(), ManualTime()) { admin in
            try await admin.post("/v1/faults", ["goAway": 10, "text": "Shutdown", "topic": "com.example.MyApp"])
            let rule = try #require(try await admin.get("/v1/faults").json["faults"].elements.first)["rule"]
            #expect(try await admin.post("/v1/faults", rule).code == "id_taken")
            try await admin.delete("/v1/faults")
            #expect(try await admin.post("/v1/faults", rule).json["rule"] == rule)
        }
    }

    @Test func aMistakeIsNamed() async throws {
        try await Self.with(FaultPlan(), ManualTime()) { admin in
            let response = try await admin.post("/v1/faults", ["reason": "TooManyRequests", "percent": 200])
            #expect(response.status == 400)
            #expect(response.code == "invalid_value")
            #expect(response.field == "percent")
            let array = try await admin.post("/v1/faults", [])
            #expect(array.status == 400)
        }
    }

    /// A provider has some of the same paths, so a command for it would take the response for an empty list.
    @Test func aRequestForAProviderIsRejected() async throws {
        try await Self.with(FaultPlan(), ManualTime()) { admin in
            var provider = admin
            provider.apiKey = "mk_text"
            let response = try await provider.get("/v1/faults")
            #expect(response.status == 400 && response.code == "not_a_provider")
            #expect(try await admin.get("/v1/faults").status == 200)
        }
    }

    private static func with(
        _ plan: FaultPlan,
        _ time: ManualTime,
        _ body: @escaping @Sendable (JSONClient) async throws -> Void
    ) async throws {
        let router = AdminServer.router(AdminFaultsController(plan: plan, time: time).operations, logger: silentLogger)
        let port = OneShotValue<Int>()
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.resolve(.success($0.localAddress?.port ?? 0)) },
            logger: silentLogger
        )
        try await withServices([application]) {
            try await body(JSONClient(baseURL: "http://127.0.0.1:\(try await port.value)"))
        }
    }
}
