import ProviderAPI
import PushProvider
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Token events and the circuit breaker.
@Suite(.timeLimit(.patience)) struct TokenStateControllerTests {
    static let app = "/v1/apps/\(Vectors.bundleID)"

    @Test func aDeadTokenIsReportedWithItsReason() async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            #expect(try await provider.api.delete("\(Self.app)/devices/\(Vectors.tokenA)").status == 204)
            let events = try await provider.api.get("\(Self.app)/tokens/events?token=\(Vectors.tokenA)").json["events"]
            #expect(events.elements.map { $0["action"] } == ["deleted"])
            #expect(try await provider.api.get("\(Self.app)/tokens/events?action=moved").json["events"] == [])
            #expect(try await provider.api.get("\(Self.app)/tokens/events?action=x").field == "action")
            #expect(try await provider.api.get("\(Self.app)/tokens/events?token=x").code == "invalid_token")
        }
    }

    @Test func theBreakerIsShownAndSettled() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let health = try await provider.api.get("\(Self.app)/hygiene").json["environments"].elements
            #expect(health.map { $0["breaker"] } == ["closed", "closed"])
            for decision in ["apply", "discard"] {
                let settled = try await provider.api.post("\(Self.app)/hygiene/sandbox:\(decision)", [:])
                #expect(settled.json == ["tokens": 0])
            }
            #expect(try await provider.api.post("\(Self.app)/hygiene/mars:apply", [:]).code == "invalid_environment")
        }
    }

    /// With the default limits three responses would prove nothing.
    @Test func theBreakersLimitsAreThoseOfTheConfiguration() async throws {
        let sender = ScriptedSender()
        sender.always(.rejected(Rejection(status: 410, reasonText: "Unregistered")), in: .sandbox)
        try await withProvider(senders: sender, configure: { $0.breaker.minimum = 2 }) { provider in
            try await provider.addVectorsApp()
            for number in 1...3 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi"])
            let path = "/v1/notifications/\(sent.json["id"].stringValue ?? "")"
            // It was its only page, so that nothing is left to pause.
            while try await provider.api.get(path).json["state"] != "done" { try Task.checkCancellation() }
            let health = try await provider.api.get("\(Self.app)/hygiene").json["environments"].elements
            let open = try #require(health.first { $0["breaker"] == "open" })
            let withheld = try await provider.api.get("\(Self.app)/tokens/events?action=withheld").json["events"]
                .elements
            #expect(!withheld.isEmpty && open["withheld"] == .integer(Int64(withheld.count)))
            #expect(health.filter { $0["breaker"] == "closed" }.allSatisfy { $0["withheld"] == .null })
        }
    }
}
