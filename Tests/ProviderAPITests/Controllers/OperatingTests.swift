import Foundation
import ProviderAPI
import PushProvider
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// Token hygiene, webhooks, readiness and figures.
@Suite(.timeLimit(.minutes(5))) struct OperatingTests {
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
            for word in ["apply", "discard"] {
                let settled = try await provider.api.post("\(Self.app)/hygiene/sandbox:\(word)", [:])
                #expect(settled.json == ["tokens": 0])
            }
            #expect(try await provider.api.post("\(Self.app)/hygiene/mars:apply", [:]).code == "invalid_environment")
        }
    }

    /// With the default limits three answers would prove nothing.
    @Test func theBreakersLimitsAreThoseOfTheConfiguration() async throws {
        let sender = ScriptedSender()
        sender.always(.rejected(Rejection(status: 410, reasonText: "Unregistered")), in: .sandbox)
        try await withProvider(senders: sender, configure: { $0.breaker.minimum = 2 }) { provider in
            try await provider.addVectorsApp()
            for number in 1...3 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            let sent = try await provider.send(["to": ["all": true], "alert": "Hi"])
            let path = "/v1/notifications/\(sent.json["id"].stringValue ?? "")"
            while try await provider.api.get(path).json["state"] != "paused" { try Task.checkCancellation() }
            let health = try await provider.api.get("\(Self.app)/hygiene").json["environments"].elements
            #expect(health.map { $0["breaker"] }.contains("open"))
        }
    }

    @Test func aWebhookShowsItsSecretOnce() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let added = try await provider.api.post(
                "\(Self.app)/webhooks",
                ["url": "https://Hooks.example.com/a", "events": ["token"]]
            )
            #expect(added.status == 201)
            #expect(added.json["secret"].stringValue?.hasPrefix("whsec_") == true)
            let path = "/v1/webhooks/\(added.json["id"].stringValue ?? "")"
            let shown = try await provider.api.get(path).json
            #expect(shown["secret"] == .null)
            #expect(shown["url"] == "https://hooks.example.com:443/a")
            #expect(try await provider.api.get("\(Self.app)/webhooks").json["webhooks"].elements == [shown])
            let rotated = try await provider.api.post("\(path):rotate", [:]).json["secret"]
            #expect(rotated != added.json["secret"] && rotated != .null)
            #expect(try await provider.api.post("\(path):finish-rotation", [:]).json["secret"] == .null)
            let off = try await provider.api.call("PATCH", path, Data(#"{"active":false,"events":["delivery"]}"#.utf8))
            #expect(off.json["active"] == false)
            #expect(off.json["events"] == ["delivery"])
            #expect(try await provider.api.post("\(path):enable", [:]).json["active"] == true)
            #expect(try await provider.api.post("\(path):replay", ["block": 1]).json["block"] == 0)
            #expect(try await provider.api.post("\(path):replay", [:]).status == 400)
            #expect(try await provider.api.delete(path).status == 204)
            #expect(try await provider.api.get(path).code == "no_such_webhook")
        }
    }

    @Test(arguments: [
        "http://hooks.example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://10.0.0.1/",
        "https://169.254.169.254/latest", "https://user:pw@example.com/", "https://example.com:25/",
        "ftp://example.com",
        "", "https://2130706433/",
    ])
    func aWebhookToAPrivatePlaceIsRefused(url: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let answer = try await provider.api.post("\(Self.app)/webhooks", ["url": .string(url)])
            #expect(answer.status == 400)
            #expect(answer.field == "url")
        }
    }

    @Test func itIsReadyAndCounts() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            var anybody = provider.api
            anybody.apiKey = nil
            #expect(try await anybody.get("/ready").json == ["status": "ready"])
            #expect(try await anybody.get("/metrics").status == 401)
            _ = try await provider.api.get("/v1/apps")
            let metrics = try await provider.api.get("/metrics")
            #expect(metrics.headers["content-type"]?.hasPrefix("text/plain") == true)
            let text = String(decoding: metrics.body, as: UTF8.self)
            #expect(text.contains(#"martlet_api_requests_total{operation="listApps",status="200"} 1"#))
            #expect(text.contains(#"martlet_api_request_seconds_count{operation="listApps"} 1"#))
            #expect(text.contains("martlet_build_info{version="))
            #expect(text.contains("martlet_store_write_failures_total 0"))
        }
    }
}
