import Foundation
import ProviderAPI
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushBridges

/// gorush's routes, over a real port.
@Suite(.timeLimit(.patience)) struct GorushRoutesTests {
    private static let path = "/gorush/default/api/push"

    private static func body(_ members: [String: JSONValue] = [:], tokens: [String] = [Vectors.tokenA]) -> JSONValue {
        let notification: [String: JSONValue] = [
            "platform": 1, "tokens": .array(tokens.map { .string($0) }), "message": "It is ready", "notif_id": "n1",
        ]
        return ["notifications": [.object(notification.merging(members) { $1 })]]
    }

    private static func entry(_ token: String, _ error: String) -> JSONValue {
        [
            "notif_id": "n1", "type": "failed-push", "platform": "ios", "token": .string(token),
            "message": "It is ready", "error": .string(error),
        ]
    }

    @Test func aPushIsAcceptedAndSent() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            #expect(try await provider.setBridge("gorush", "default").status == 200)
            let members: [String: JSONValue] = [
                "topic": .string(Vectors.bundleID), "title": "Tea", "badge": 1, "sound": "default", "data": ["k": 1],
            ]
            for path in [Self.path, "/api/push"] {
                let response = try await provider.api.post(path, Self.body(members))
                #expect(response.status == 200)
                #expect(response.json == ["counts": 2, "logs": [], "success": "ok"])
                #expect(response.headers["x-gorush-version"] == MartletVersion.number)
            }
            try await sender.waitForPushes(2)
            let sent = try #require(sender.sent.first)
            let alert: JSONValue = ["title": "Tea", "body": "It is ready"]
            #expect(sent.json == ["aps": ["alert": alert, "badge": 1, "sound": "default"], "k": 1])
            #expect(sent.token.hex == Vectors.tokenA && sent.environment == .production)
            #expect(sent.notification.topic.name == Vectors.bundleID)
        }
    }

    @Test func aSynchronousDoorAnswersWithFailures() async throws {
        let sender = ScriptedSender()
        let b = GorushRequestTests.tokenB
        let foreign = Rejection(status: 400, reasonText: "DeviceTokenNotForTopic")
        sender.script(try #require(DeviceToken(hex: b)), .rejected(foreign))
        try await withBridges(senders: sender) { provider in
            try await provider.setBridge("gorush", "default", ["sync": true])
            let response = try await provider.api.post(Self.path, Self.body(tokens: [Vectors.tokenA, b, "zz"]))
            #expect(response.json["counts"] == 3)
            #expect(
                response.json["logs"] == [Self.entry("zz", "BadDeviceToken"), Self.entry(b, "DeviceTokenNotForTopic")]
            )
            let stat = try await provider.api.get("/gorush/default/api/stat/app").json
            #expect(stat["submitted_tasks"] == 3)
            #expect(stat["android"] == ["push_success": 0, "push_error": 0])
        }
    }

    @Test func anInvalidTokenIsInTheLogOnce() async throws {
        try await withBridges { provider in
            try await provider.setBridge("gorush", "default")
            let response = try await provider.api.post(Self.path, Self.body(tokens: ["", "zz", "", "zz", ""]))
            #expect(response.json["counts"] == 5)
            #expect(response.json["logs"] == [Self.entry("", "BadDeviceToken"), Self.entry("zz", "BadDeviceToken")])
        }
    }

    @Test func aTokenThatIsGoneIsNotSentToAgain() async throws {
        let sender = ScriptedSender()
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        sender.script(token, .rejected(Rejection(status: 410, reasonText: "Unregistered")))
        try await withBridges(senders: sender) { provider in
            _ = try await provider.register(Vectors.tokenA)
            try await provider.setBridge("gorush", "default", ["sync": true])
            for _ in 1...2 {
                let response = try await provider.api.post(Self.path, Self.body())
                #expect(response.json["logs"] == [Self.entry(Vectors.tokenA, "Unregistered")])
            }
            #expect(sender.sent.count == 1)
            #expect(sender.sent.first?.environment == .sandbox, "the environment of its registration")
        }
    }

    @Test func aTokenThatTheStoreKeepsIsNotCalledDead() async throws {
        let sender = ScriptedSender()
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        sender.script(token, .rejected(Rejection(status: 400, reasonText: "BadDeviceToken")))
        try await withBridges(senders: sender) { provider in
            _ = try await provider.register(Vectors.tokenA)
            try await provider.setBridge("gorush", "default", ["sync": true])
            let response = try await provider.api.post(Self.path, Self.body(["development": true]))
            #expect(response.json["logs"] == [Self.entry(Vectors.tokenA, "unconfirmed: BadDeviceToken")])
        }
    }

    @Test func aRefusedContentIsAFailureOfItsTokens() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            try await provider.setBridge("gorush", "default")
            let large: [String: JSONValue] = ["title": .string(String(repeating: "x", count: 5000))]
            let response = try await provider.api.post(Self.path, Self.body(large))
            #expect(response.status == 200)
            #expect(response.json["logs"] == [Self.entry(Vectors.tokenA, "PayloadTooLarge")])
            #expect(sender.sent.isEmpty)
        }
    }

    @Test func errorsOfTheWholeRequestAreGorushs() async throws {
        try await withBridges { provider in
            try await provider.setBridge("gorush", "default", ["maxNotifications": 1])
            let cases: [(JSONValue, String)] = [
                (["notifications": []], "Notifications field is empty."), ([:], "Missing notifications field."),
                (["notifications": [[:], [:]]], "Number of notifications(2) over limit(1)"),
            ]
            for (body, message) in cases {
                let response = try await provider.api.post(Self.path, body)
                #expect(response.status == 400)
                #expect(response.json == ["code": 400, "message": .string(message)])
            }
        }
    }

    @Test func theDoorIsClosedWithoutABridge() async throws {
        try await withBridges { provider in
            for path in ["/api/push", Self.path] {
                let response = try await provider.api.post(path, Self.body())
                #expect(response.status == 404)
            }
            #expect(try await provider.api.get("/version").status == 404)
            #expect(try await provider.api.get("/healthz").status == 404)
            try await provider.setBridge("gorush", Vectors.bundleID)
            #expect(try await provider.stranger.get("/healthz").status == 200)
            #expect(try await provider.stranger.get("/version").json["version"] == .string(MartletVersion.number))
            #expect(try await provider.api.post("/gorush/other/api/push", Self.body()).status == 404)
            let only = try await provider.api.post("/api/push", Self.body())
            #expect(only.status == 200, "the only bridge is the standard one")
        }
    }

    @Test func aKeyNeedsTheScopeAndTheApp() async throws {
        try await withBridges { provider in
            try await provider.setBridge("gorush", "default")
            let sending = try await provider.client(["send"], apps: [Vectors.bundleID])
            #expect(try await sending.post(Self.path, Self.body()).status == 200)
            var basic = provider.stranger
            let user = Data("user:\(sending.apiKey ?? "")".utf8).base64EncodedString()
            let headers = ["authorization": "Basic \(user)"]
            #expect(try await basic.post(Self.path, Self.body(), headers: headers).status == 200)
            basic.apiKey = "mk_wrong"
            let refused = try await basic.post(Self.path, Self.body())
            #expect(refused.status == 401 && refused.json["code"] == 401)
            #expect(try await provider.stranger.post(Self.path, Self.body()).status == 401)
            let reader = try await provider.client(["read"])
            #expect(try await reader.post(Self.path, Self.body()).status == 403)
        }
    }

    @Test func aSecretInThePathStandsForAKey() async throws {
        try await withBridges { provider in
            let secret = "0123456789abcdef0123456789abcdef"
            try await provider.setBridge("gorush", "default", [:], ["secret": .string(secret)])
            let open = "/gorush/default/\(secret)/api/push"
            #expect(try await provider.stranger.post(open, Self.body()).status == 200)
            let wrong = "/gorush/default/0123456789abcdef0123456789abcdeF/api/push"
            #expect(try await provider.stranger.post(wrong, Self.body()).status == 401)
        }
    }

    /// A secret that people chose can be guessed: after many wrong ones a right one is not told from them.
    @Test(arguments: [true, false]) func wrongSecretsAreLimited(isMade: Bool) async throws {
        try await withBridges(time: ManualTime()) { provider in
            let chosen = "0123456789abcdef0123456789abcdef"
            let members: [String: JSONValue] = isMade ? ["generateSecret": true] : ["secret": .string(chosen)]
            let set = try await provider.setBridge("gorush", "default", [:], members)
            let secret = try #require(isMade ? set.json["secret"].stringValue : chosen)
            func status(_ secret: String) async throws -> Int {
                try await provider.stranger.post("/gorush/default/\(secret)/api/push", Self.body()).status
            }
            #expect(try await status(secret) == 200)
            var statuses: [Int] = []
            for number in 0..<60 { statuses.append(try await status("0123456789abcdef0123456789abcd\(number + 10)")) }
            #expect(statuses.first == 401 && statuses.last == 429)
            // A client behind the same proxy that knows a made one is served.
            #expect(try await status(secret) == (isMade ? 200 : 429))
        }
    }

    /// Bridges of earlier versions have short ones, which can be guessed.
    @Test func aShortSecretWorksUntilOthersGuessAtIt() async throws {
        let parts = Mutex<ProviderComponents?>(nil)
        try await withBridges(time: ManualTime(), capture: { value in parts.withLock { $0 = value } }) { provider in
            try await provider.setBridge("gorush", "default", [:])
            let store = try #require(parts.withLock { $0 }).store
            var bridge = try #require(try await store.bridge(.gorush, name: "default"))
            bridge.secret = "0123456789abcdef"
            _ = try await store.setBridge(bridge, keepsSecret: false)
            func status(_ secret: String) async throws -> Int {
                try await provider.stranger.post("/gorush/default/\(secret)/api/push", Self.body()).status
            }
            #expect(try await status("0123456789abcdef") == 200)
            var last = 0
            for number in 0..<60 where last != 429 { last = try await status("0123456789abcd\(number + 10)") }
            #expect(last == 429)
            #expect(try await status("0123456789abcdef") == 429)
        }
    }

    @Test func anUnsuitableBridgeIsRefused() async throws {
        try await withBridges { provider in
            let named = try await provider.setBridge("gorush", "a%20b")
            #expect(named.status == 400)
            let settings: [JSONValue] = [
                ["feedbackHook": "ftp://x"], ["maxNotifications": 0], ["shadow": ["upstream": 1]], ["other": 1],
            ]
            for settings in settings {
                let response = try await provider.setBridge("gorush", "default", settings)
                #expect(response.status == 400)
            }
        }
    }

    @Test func reportsAreThere() async throws {
        try await withBridges { provider in
            try await provider.setBridge("gorush", "default")
            _ = try await provider.api.post(Self.path, Self.body())
            let system = try await provider.api.get("/gorush/default/sys/stats").json
            #expect(system["total_status_code_count"] == ["200": 1])
            #expect(try await provider.api.get("/api/stat/go").json["go_version"].stringValue != nil)
            let metrics = try await provider.api.get("/gorush/default/metrics")
            #expect(String(decoding: metrics.body, as: UTF8.self).contains("gorush_total_push_count 1\n"))
            #expect(try await provider.stranger.get("/gorush/default/sys/stats").status == 401)
        }
    }

    @Test func failuresArePostedToTheHook() async throws {
        let sender = ScriptedSender()
        let b = GorushRequestTests.tokenB
        let gone = Rejection(status: 410, reasonText: "Unregistered")
        sender.script(try #require(DeviceToken(hex: b)), .rejected(gone))
        try await OldServer.run { server, url in
            try await withBridges(senders: sender) { provider in
                try await provider.setBridge("gorush", "default", ["feedbackHook": .string("\(url)/hook")])
                let response = try await provider.api.post(Self.path, Self.body(tokens: [Vectors.tokenA, b, "zz"]))
                #expect(response.json["logs"] == [Self.entry("zz", "BadDeviceToken")])
                try await server.waitForRequests(2)
                let bodies = server.asked.map(\.body)
                #expect(bodies.contains(Self.entry("zz", "BadDeviceToken")))
                #expect(bodies.contains(Self.entry(b, "Unregistered")))
                #expect(server.asked.allSatisfy { $0.path == "/hook" })
            }
        }
    }

    @Test func aShadowSendsNothingAndComparesAnswers() async throws {
        let sender = ScriptedSender()
        let b = GorushRequestTests.tokenB
        let answer: JSONValue = [
            "success": "ok", "counts": 2,
            "logs": [["type": "failed-push", "token": .string(b), "error": "Unregistered", "message": "secret"]],
        ]
        try await OldServer.run(answering: answer) { server, url in
            try await withBridges(senders: sender) { provider in
                let settings: JSONValue = ["shadow": ["upstream": .string(url)]]
                try await provider.setBridge("gorush", "default", settings)
                let body = Self.body(tokens: [Vectors.tokenA, b])
                let response = try await provider.api.post(Self.path, body)
                #expect(response.status == 200 && response.json == answer)
                let asked = try #require(server.asked.first)
                #expect(asked.path == "/api/push" && asked.body == body)
                #expect(asked.authorization == nil, "our key is not for the old server")
                let report = try await provider.shadow("gorush", "default")
                #expect(report["requests"] == 1 && report["agreements"] == 0)
                let difference = try #require(report["differences"].elements.first)
                #expect(difference["subject"] == "token" && difference["ours"] == "would send")
                #expect(difference["theirs"] == "Unregistered" && difference["field"] == "2ca004c1… (32 bytes)")
                #expect(sender.sent.isEmpty)
            }
        }
    }

    @Test func anOldServerThatDoesNotAnswerIsADifference() async throws {
        try await withBridges { provider in
            try await provider.setBridge("gorush", "default", ["shadow": ["upstream": "http://127.0.0.1:1"]])
            #expect(try await provider.api.post(Self.path, Self.body()).status == 502)
            let report = try await provider.shadow("gorush", "default")
            #expect(report["differences"].elements.first?["subject"] == "upstream")
            let path = "/v1/apps/\(Vectors.bundleID)/bridges/gorush/default/shadow"
            #expect(try await provider.api.delete(path).status == 204)
            #expect(try await provider.shadow("gorush", "default")["requests"] == 0)
        }
    }
}
