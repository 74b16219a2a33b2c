import Foundation
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// The overview, the statistics, the system's figures and the stop of an app, over a real port.
@Suite(.timeLimit(.patience)) struct OverviewTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let all: JSONValue = ["to": ["all": true], "alert": "Hi", "environment": "sandbox"]

    private func withDevices(
        time: any TimeSource = SystemTime(),
        _ body: @escaping @Sendable (RunningProvider, ScriptedSender) async throws -> Void
    ) async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender, time: time) { provider in
            try await provider.addVectorsApp()
            for number in 0..<3 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            try await body(provider, sender)
        }
    }

    @Test func aStoppedAppSendsNothingAndSaysSoEverywhereUntilItIsResumed() async throws {
        try await self.withDevices { provider, sender in
            let stopped = try await provider.api.post("\(Self.app):pause", ["reason": "wrong text"])
            #expect(stopped.json["stopped"] == true && stopped.json["by"]["name"] == "first admin key")
            let campaign = try await provider.send(Self.all)
            let urgent = try await provider.send([
                "to": ["tokens": [.string(DeviceToken.numbered(1).hex)]], "alert": "Hi", "environment": "sandbox",
            ])
            for sent in [campaign, urgent] {
                #expect(sent.status == 202)
                let warnings = sent.json["warnings"].elements.compactMap { $0["message"].stringValue }
                #expect(warnings.contains { $0.contains("wrong text") })
                let shown = try await provider.api.get("/v1/notifications/\(sent.json["id"].stringValue ?? "")").json
                #expect(shown["appStop"]["reason"] == "wrong text" && shown["counters"]["accepted"] == 0)
            }
            #expect(try await provider.api.get(Self.app).json["stop"]["stopped"] == true)
            let trouble = try await provider.api.get("/v1/overview").json["trouble"].elements
            #expect(trouble.first?["code"] == "appStopped" && trouble.first?["app"] == .string(Vectors.bundleID))
            #expect(sender.sent.isEmpty)
            // What waits for the app is no stalled campaign.
            let metrics = String(decoding: try await provider.api.get("/metrics").body, as: UTF8.self)
            #expect(metrics.contains("martlet_app_stopped{app=\"\(Vectors.bundleID)\"} 1"))
            #expect(metrics.contains("\nmartlet_shards_due 0\n"))
            #expect(try await provider.api.post("\(Self.app):resume", [:]).json["stopped"] == false)
            for sent in [campaign, urgent] { _ = try await provider.finished(sent) }
            #expect(sender.sent.count == 4)
            let all = try await provider.api.get("/v1/overview").json
            #expect(try await provider.api.get("/v1/overview?app=\(Vectors.bundleID)").json["today"] == all["today"])
            #expect(try await provider.api.get("/v1/campaigns?app=\(Vectors.bundleID)").json["campaigns"] == [])
            #expect(try await provider.api.get("/v1/campaigns?app=com.example.nope").status == 404)
            #expect(all["trouble"] == [] && all["today"]["accepted"] == 4)
        }
    }

    @Test func theChartHasWhatWasSent() async throws {
        try await self.withDevices { provider, sender in
            sender.script(.numbered(0), .rejected(Rejection(status: 400, reasonText: "Unregistered")))
            _ = try await provider.finished(try await provider.send(Self.all))
            let chart = try await provider.api.get("/v1/statistics?app=\(Vectors.bundleID)&step=hour").json
            #expect(chart["step"] == "hour" && chart["latencyBounds"].elements.count == 9)
            let intervals = chart["intervals"].elements
            #expect(intervals.reduce(0) { $0 + ($1["accepted"].integerValue ?? 0) } == 2)
            #expect(intervals.reduce(0) { $0 + ($1["rejected"].integerValue ?? 0) } == 1)
            #expect(chart["reasons"].elements.first?["reason"] == "Unregistered")
            let cases = ["app=com.example.None", "step=week", "from=x", "from=100&to=50", "from=0&step=day"]
            for (query, code) in zip(
                cases,
                ["no_such_app", "invalid_value", "invalid_value", "invalid_value", "invalid_value"]
            ) {
                let response = try await provider.api.get("/v1/statistics?\(query)")
                #expect(response.json["error"]["code"] == .string(code), "\(query)")
            }
        }
    }

    @Test func theSystemShowsItsStoreItsLanesAndItsNode() async throws {
        try await self.withDevices { provider, _ in
            let system = try await provider.api.get("/v1/system").json
            #expect(system["store"]["migrations"].elements.contains("16 statistics"))
            #expect((system["store"]["databaseBytes"].integerValue ?? 0) > 0)
            #expect(system["lanes"].elements.map { $0["lane"] } == ["urgent", "bulk"])
            #expect(system["nodes"].elements.count == 1 && system["notifications"]["sending"] == 0)
        }
    }

    @Test func aKeyOfAnotherAppSeesNothingOfThisOne() async throws {
        try await self.withDevices { provider, _ in
            try await provider.api.post("/v1/apps", ["bundleId": "com.example.Other"])
            try await provider.api.post("\(Self.app):pause", [:])
            let body: JSONValue = ["name": "other", "scopes": ["read", "operate"], "apps": ["com.example.Other"]]
            let key = try await provider.api.post("/v1/keys", body).json["key"].stringValue ?? ""
            let other = JSONClient(baseURL: provider.api.baseURL, apiKey: key)
            #expect(try await other.get("/v1/overview").json["trouble"] == [])
            #expect(
                try await other.get("/v1/statistics?app=\(Vectors.bundleID)").json["error"]["code"] == "no_such_app"
            )
            #expect(try await other.get("/v1/system").json["error"]["code"] == "all_apps_needed")
            #expect(try await other.post("\(Self.app):resume", [:]).json["error"]["code"] == "other_app")
        }
    }
}
