import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// FCM's routes, over a real port.
@Suite(.timeLimit(.patience)) struct FCMRoutesTests {
    private static let path = "/v1/projects/shop/messages:send"

    private static func body(
        _ target: [String: JSONValue] = ["token": .string(Vectors.tokenA)],
        _ more: [String: JSONValue] = [:]
    ) -> JSONValue {
        let headers: JSONValue = [
            "apns-priority": "10", "apns-collapse-id": "o42", "apns-expiration": "4000000000",
        ]
        var message: [String: JSONValue] = [
            "notification": ["title": "Tea", "body": "It is ready"], "data": ["order": "42"],
            "apns": ["headers": headers],
        ]
        message.merge(target) { $1 }
        var body = more
        body["message"] = .object(message)
        return .object(body)
    }

    private static func code(_ response: JSONClient.Response) -> String? {
        response.json["error"]["details"].elements.lazy.compactMap { $0["errorCode"].stringValue }.first
    }

    @Test func aMessageGoesToAToken() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            #expect(try await provider.setBridge("fcm", "shop").status == 200)
            let response = try await provider.api.post("\(Self.path)?alt=json", Self.body())
            #expect(response.status == 200)
            let sent = try #require(sender.sent.first)
            #expect(response.json == ["name": .string("projects/shop/messages/\(sent.notification.id)")])
            let alert: JSONValue = ["title": "Tea", "body": "It is ready"]
            #expect(sent.json == ["aps": ["alert": alert], "order": "42"])
            #expect(sent.notification.collapseID == "o42" && sent.notification.priority == .immediate)
            #expect(sent.notification.expiration == .at(seconds: 4_000_000_000))
        }
    }

    @Test func aDeadTokenIsUnregistered() async throws {
        let sender = ScriptedSender()
        let token = try #require(DeviceToken(hex: Vectors.tokenA))
        sender.script(token, .rejected(Rejection(status: 410, reasonText: "Unregistered")))
        try await withBridges(senders: sender) { provider in
            _ = try await provider.register(Vectors.tokenA)
            try await provider.setBridge("fcm", "shop")
            for _ in 1...2 {
                let response = try await provider.api.post(Self.path, Self.body())
                #expect(response.status == 404)
                #expect(response.json == FCMError.unregistered.json)
            }
            #expect(sender.sent.count == 1)
            let foreign = try await provider.api.post(Self.path, Self.body(["token": "abc:APA91"]))
            #expect(foreign.status == 404)
        }
    }

    @Test func aTestSendsNothing() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            try await provider.setBridge("fcm", "shop")
            let target: [String: JSONValue] = ["token": .string(Vectors.tokenA)]
            let response = try await provider.api.post(Self.path, Self.body(target, ["validate_only": true]))
            #expect(response.status == 200)
            #expect(response.json["name"].stringValue?.hasPrefix("projects/shop/messages/") == true)
            #expect(sender.sent.isEmpty)
        }
    }

    @Test func errorsNameTheirFields() async throws {
        try await withBridges { provider in
            try await provider.setBridge("fcm", "shop")
            let both: [String: JSONValue] = ["token": .string(Vectors.tokenA), "topic": "news"]
            let numbers: [String: JSONValue] = ["token": .string(Vectors.tokenA), "data": ["n": 12]]
            for (target, field) in [(both, "message"), (numbers, "message.data[0].value")] {
                let response = try await provider.api.post(Self.path, Self.body(target))
                #expect(response.status == 400 && response.json["error"]["status"] == "INVALID_ARGUMENT")
                let detail = try #require(response.json["error"]["details"].elements.first)
                #expect(detail["@type"] == "type.googleapis.com/google.rpc.BadRequest")
                #expect(detail["fieldViolations"].elements.first?["field"] == .string(field))
            }
        }
    }

    @Test func aTopicReachesItsSubscribers() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            try await provider.setBridge("fcm", "shop")
            _ = try await provider.register(Vectors.tokenA)
            _ = try await provider.register(Vectors.tokenC)
            let tokens: JSONValue = [.string(Vectors.tokenA), "zz", .string(GorushRequestTests.tokenB)]
            let batch: JSONValue = ["to": "/topics/news", "registration_tokens": tokens]
            let added = try await provider.api.post("/iid/v1:batchAdd", batch)
            #expect(added.json == ["results": [[:], ["error": "INVALID_ARGUMENT"], ["error": "NOT_FOUND"]]])
            let response = try await provider.api.post(Self.path, Self.body(["topic": "news"]))
            #expect(response.status == 200)
            try await sender.waitForPushes(1)
            #expect(sender.sent.map(\.token.hex) == [Vectors.tokenA])
            let condition: JSONValue = "!('news' in topics)"
            #expect(try await provider.api.post(Self.path, Self.body(["condition": condition])).status == 200)
            try await sender.waitForPushes(2)
            #expect(sender.sent.last?.token.hex == Vectors.tokenC)
            let removed = try await provider.api.post("/iid/v1:batchRemove", batch)
            #expect(removed.json["results"].elements.first == [:])
            let none = try await provider.api.post(Self.path, Self.body(["topic": "news"]))
            #expect(none.status == 200, "a topic without subscribers is no error")
        }
    }

    @Test func aSubscriptionIsAResource() async throws {
        try await withBridges { provider in
            try await provider.setBridge("fcm", "shop")
            _ = try await provider.register(Vectors.tokenA, ["installation": "installation-1", "tags": ["vip"]])
            let all = "/v1/projects/shop/registrations/\(Vectors.tokenA)/topicSubscriptions"
            let made = try await provider.api.post("\(all)?topic_name=news", [:])
            #expect(made.status == 200 && made.json["topic_name"] == "news")
            #expect(made.json["name"] == .string("\(all.dropFirst(4))/news"))
            let again = try await provider.api.post("\(all)?topic_name=news", [:])
            #expect(again.status == 409 && again.json["error"]["status"] == "ALREADY_EXISTS")
            let ofInstallation = all.replacing(Vectors.tokenA, with: "installation-1")
            #expect(try await provider.api.get("\(ofInstallation)/news").status == 200)
            #expect(try await provider.api.get(all).json["topic_subscriptions"].elements.count == 1)
            #expect(try await provider.api.delete("\(all)/news").status == 200)
            #expect(try await provider.api.delete("\(all)/news").status == 404)
            #expect(try await provider.api.delete("\(all)/news?allow_missing=true").status == 200)
            let unknown = all.replacing(Vectors.tokenA, with: Vectors.tokenC)
            #expect(try await provider.api.post("\(unknown)?topic_name=news", [:]).status == 404)
            let device = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/devices").json["devices"].elements
                .first
            #expect(device?["tags"] == ["vip"], "other tags stay")
        }
    }

    @Test func anInstallationIsATarget() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            try await provider.setBridge("fcm", "shop")
            _ = try await provider.register(Vectors.tokenA, ["installation": "installation-1"])
            #expect(try await provider.api.post(Self.path, Self.body(["fid": "installation-1"])).status == 200)
            #expect(sender.sent.map(\.token.hex) == [Vectors.tokenA])
            #expect(try await provider.api.post(Self.path, Self.body(["fid": "installation-2"])).status == 404)
        }
    }

    @Test func tokensAreImported() async throws {
        try await withBridges { provider in
            try await provider.setBridge("fcm", "shop")
            let body: JSONValue = [
                "application": .string(Vectors.bundleID), "sandbox": true,
                "apns_tokens": [.string(Vectors.tokenA), "zz"],
            ]
            let response = try await provider.api.post("/iid/v1:batchImport", body)
            let expected: JSONValue = [
                [
                    "apns_token": .string(Vectors.tokenA), "status": "OK",
                    "registration_token": .string(Vectors.tokenA),
                ],
                ["apns_token": "zz", "status": "INVALID_ARGUMENT"],
            ]
            #expect(response.json == ["results": expected])
            let devices = try await provider.api.get("/v1/apps/\(Vectors.bundleID)/devices").json["devices"].elements
            #expect(devices.map { $0["environment"] } == ["sandbox"])
            let other: JSONValue = ["application": "org.other", "apns_tokens": [.string(Vectors.tokenC)]]
            #expect(try await provider.api.post("/iid/v1:batchImport", other).status == 403)
        }
    }

    @Test func aKeyNeedsTheProject() async throws {
        try await withBridges { provider in
            try await provider.setBridge("fcm", "shop")
            let wrong = try await provider.stranger.post(Self.path, Self.body())
            #expect(wrong.status == 401 && wrong.json["error"]["status"] == "UNAUTHENTICATED")
            #expect(Self.code(wrong) == nil)
            let unknown = try await provider.api.post("/v1/projects/other/messages:send", Self.body())
            #expect(unknown.status == 403 && unknown.json["error"]["status"] == "PERMISSION_DENIED")
            #expect(Self.code(unknown) == nil)
            let sending = try await provider.client(["send"], apps: [Vectors.bundleID])
            #expect(try await sending.post(Self.path, Self.body()).status == 200)
            let batch: JSONValue = ["to": "/topics/news", "registration_tokens": [.string(Vectors.tokenA)]]
            let denied = try await sending.post("/iid/v1:batchAdd", batch)
            #expect(denied.status == 403, "topics need the scope register")
            #expect(denied.json["error"].stringValue?.hasPrefix("PERMISSION_DENIED") == true)
            let reader = try await provider.client(["read"])
            #expect(try await reader.post(Self.path, Self.body()).status == 403)
            #expect(try await provider.stranger.post("/fcm/send", [:]).json["error"]["status"] == "NOT_FOUND")
        }
    }

    @Test func wrongSecretsAreLimited() async throws {
        try await withBridges(time: ManualTime()) { provider in
            let chosen = "0123456789abcdef0123456789abcdef"
            try await provider.setBridge("fcm", "shop", [:], ["secret": .string(chosen)])
            func status(_ secret: String) async throws -> Int {
                try await provider.stranger.post("/fcm/shop/\(secret)\(Self.path)", Self.body()).status
            }
            #expect(try await status(chosen) == 200)
            var statuses: [Int] = []
            for number in 0..<60 { statuses.append(try await status("0123456789abcdef0123456789abcd\(number + 10)")) }
            #expect(statuses.first == 401 && statuses.last == 429)
            #expect(try await status(chosen) == 429)
        }
    }

    /// The SDKs wait for as long as the response says, which is said once.
    @Test func aRateSaysWhenToTryAgain() async throws {
        try await withProvider(
            senders: ScriptedSender(),
            time: ManualTime(),
            addition: { try Bridges($0) }
        ) { provider in
            try await provider.addVectorsApp()
            try await provider.setBridge("fcm", "shop")
            let key: JSONValue = ["name": "back end", "scopes": ["send"], "rate": 1]
            let text = try #require(try await provider.api.post("/v1/keys", key).json["key"].stringValue)
            var request = HTTPClientRequest(url: "\(provider.api.baseURL)\(Self.path)")
            request.method = .POST
            request.headers.add(name: "authorization", value: "Bearer \(text)")
            request.body = .bytes(ByteBuffer(bytes: try Self.body(["token": "a:b"]).text))
            var statuses: [UInt] = []
            var delays: [String] = []
            for _ in 0..<3 {
                let response = try await HTTPClient.shared.execute(request, timeout: .patience)
                _ = try await response.body.collect(upTo: 1024 * 1024)
                statuses.append(response.status.code)
                delays = response.headers["retry-after"]
            }
            #expect(statuses == [404, 404, 429])
            #expect(delays == ["2"])
        }
    }

    @Test func theSameMessageIsSentOnceWithinTheWindow() async throws {
        let sender = ScriptedSender()
        try await withBridges(senders: sender) { provider in
            try await provider.setBridge("fcm", "shop", ["repeatSeconds": 600])
            let first = try await provider.api.post(Self.path, Self.body())
            let second = try await provider.api.post(Self.path, Self.body())
            #expect(first.status == 200 && first.json == second.json)
            #expect(sender.sent.count == 1)
            try await provider.setBridge("fcm", "shop")
            #expect(try await provider.api.post(Self.path, Self.body()).json != first.json)
            #expect(sender.sent.count == 2)
        }
    }

    @Test func anAppWithoutCredentialCannotAuthenticate() async throws {
        try await withProvider(senders: ScriptedSender(), addition: { try Bridges($0) }) { provider in
            try await provider.addVectorsApp(in: [])
            try await provider.setBridge("fcm", "shop")
            for target in [["token": .string(Vectors.tokenA)], ["topic": "news"]] as [[String: JSONValue]] {
                let response = try await provider.api.post(Self.path, Self.body(target))
                #expect(response.status == 401 && Self.code(response) == "THIRD_PARTY_AUTH_ERROR")
            }
        }
    }

    @Test func aShadowPassesTheClientsCredentialOn() async throws {
        let sender = ScriptedSender()
        let error: JSONValue = [
            "code": 404, "status": "NOT_FOUND", "message": "x",
            "details": [["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED"]],
        ]
        try await OldServer.run(status: 404, answering: ["error": error]) { server, url in
            try await withBridges(senders: sender) { provider in
                let secret = "0123456789abcdef0123456789abcdef"
                let settings: JSONValue = ["shadow": ["upstream": .string(url)]]
                try await provider.setBridge("fcm", "shop", settings, ["secret": .string(secret)])
                let path = "/fcm/shop/\(secret)\(Self.path)"
                let headers = ["authorization": "Bearer ya29.token"]
                let response = try await provider.stranger.call(
                    "POST",
                    path,
                    try Self.body().text,
                    headers: headers
                )
                #expect(response.status == 404 && response.json == ["error": error])
                #expect(server.asked.map(\.path) == [Self.path])
                #expect(server.asked.map(\.authorization) == ["Bearer ya29.token"])
                let report = try await provider.shadow("fcm", "shop")
                let difference = try #require(report["differences"].elements.first)
                #expect(difference["ours"] == "200" && difference["theirs"] == "404 UNREGISTERED")
                let foreign = try await provider.stranger.post(path, Self.body(["token": "a:b"]))
                #expect(foreign.status == 404)
                let again = try await provider.shadow("fcm", "shop")
                #expect(again["requests"] == 2 && again["agreements"] == 1, "both call it unregistered")
                #expect(sender.sent.isEmpty)
            }
        }
    }
}
