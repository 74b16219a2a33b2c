import Foundation
import ProviderAPI
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

/// `?wait` of a sending request, warnings about nobody, and what is sent again.
@Suite(.timeLimit(.patience)) struct WaitParameterTests {
    private static let path = "/v1/apps/\(Vectors.bundleID)/notifications"
    private static func tokens(_ numbers: ClosedRange<Int>) -> JSONValue {
        .array(numbers.map { .string(DeviceToken.numbered($0).hex) })
    }

    @Test func theResponseHasTheOutcomes() async throws {
        let sender = ScriptedSender()
        sender.script(.numbered(2), .rejected(Rejection(status: 410, reasonText: "Unregistered", timestamp: nil)))
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            let body: JSONValue = ["to": ["tokens": Self.tokens(1...3)], "environment": "sandbox", "alert": "Hi"]
            let key = ["idempotency-key": "a"]
            let response = try await provider.api.post("\(Self.path)?wait=30", body, headers: key)
            #expect(response.status == 202)
            #expect(response.json["state"] == "done")
            #expect(response.json["pending"] == 0)
            let outcomes = response.json["outcomes"].elements
            #expect(outcomes.map { $0["token"].stringValue } == (1...3).map { DeviceToken.numbered($0).hex })
            #expect(outcomes.map { $0["state"].stringValue } == ["accepted", "rejected", "accepted"])
            #expect(outcomes[1]["reason"] == "Unregistered")
            #expect(Set(outcomes.compactMap { $0["apnsId"].stringValue }).count == 3)
            let again = try await provider.api.post("\(Self.path)?wait=true", body, headers: key)
            #expect(again.headers["idempotency-replayed"] == "true")
            #expect(again.json["outcomes"] == response.json["outcomes"])
            #expect(sender.sent.count == 3)
            let without = try await provider.api.post(Self.path, body, headers: key)
            #expect(without.json["outcomes"] == .null)
        }
    }

    @Test func devicesOfAnAudienceAreWaitedFor() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            for token in [Vectors.tokenA, Vectors.tokenC] { _ = try await provider.register(token, ["user": "alice"]) }
            let response = try await provider.api.post(
                "\(Self.path)?wait=30",
                ["to": ["user": "alice"], "alert": "Hi"]
            )
            #expect(response.json["outcomes"].elements.map { $0["state"] } == ["accepted", "accepted"])
            #expect(response.json["outcomes"].elements.allSatisfy { $0["deviceId"] != .null && $0["token"] == .null })
        }
    }

    /// A recipient without a final state when the time is over is pending, and is still sent to.
    @Test func whatIsNotFinalIsPending() async throws {
        let sender = ScriptedSender()
        sender.always(.notSent(.init("no connection")), in: .sandbox)
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            _ = try await provider.register(Vectors.tokenA)
            for to: JSONValue in [["tokens": Self.tokens(1...2)], ["all": true]] {
                let body: JSONValue = ["to": to, "environment": "sandbox", "alert": "Hi"]
                let response = try await provider.api.post("\(Self.path)?wait=1", body)
                #expect(response.status == 202)
                let outcomes = response.json["outcomes"].elements
                #expect(!outcomes.isEmpty && outcomes.allSatisfy { $0["state"] == "pending" })
                #expect(response.json["pending"].integerValue == Int64(outcomes.count))
                #expect(outcomes.allSatisfy { $0["apnsId"] != .null })
            }
        }
    }

    @Test(arguments: ["0", "31", "-1", "1.5", "yes", "", "99999999999999999999"])
    func aWaitIsTrueOrAFewSeconds(wait: String) async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let body: JSONValue = ["to": ["all": true], "alert": "Hi"]
            let response = try await provider.api.post("\(Self.path)?wait=\(wait)", body)
            #expect(response.status == 400)
            #expect(response.field == "wait")
        }
    }

    /// A request that cannot be waited for is rejected before anything is accepted.
    @Test func tooManyRecipientsAreRejectedBeforeAcceptance() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let devices = (1...101).map { number -> JSONValue in
                ["token": .string(DeviceToken.numbered(number).hex), "environment": "sandbox"]
            }
            let batch: JSONValue = ["devices": .array(devices)]
            _ = try await provider.api.post("/v1/apps/\(Vectors.bundleID)/devices:batch", batch)
            for to: JSONValue in [["tokens": Self.tokens(1...101)], ["all": true]] {
                let response = try await provider.api.post("\(Self.path)?wait=1", ["to": to, "alert": "Hi"])
                #expect(response.status == 400)
                #expect(response.code == "too_many_recipients")
                #expect(response.field == "wait")
            }
            let later: JSONValue = ["to": ["all": true], "alert": "Hi", "when": ["at": "2099-01-01T00:00:00Z"]]
            #expect(try await provider.api.post("\(Self.path)?wait=1", later).status == 400)
            #expect(try await provider.api.get(Self.path).json["notifications"].elements.isEmpty)
        }
    }

    @Test func anAudienceOfNobodyIsAWarning() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let now = Int64(Date().timeIntervalSince1970)
            let bodies: [JSONValue] = [
                ["to": ["user": "nobody"], "alert": "Hi"],
                ["to": ["tag": "none"], "alert": "Hi", "when": ["at": .integer(now + 3600)]],
            ]
            for body in bodies {
                let response = try await provider.send(body)
                #expect(response.status == 202)
                #expect(response.json["warnings"].elements.map { $0["field"] } == ["to"])
            }
            let waited = try await provider.api.post("\(Self.path)?wait=30", bodies[0])
            #expect(waited.json["state"] == "done")
            #expect(waited.json["outcomes"] == [])
            _ = try await provider.register(Vectors.tokenA)
            let reached = try await provider.send(["to": ["all": true], "alert": "Hi"])
            #expect(reached.json["warnings"] == [])
        }
    }
}

/// `:resend` of a notification.
@Suite(.timeLimit(.patience)) struct NotificationResendTests {
    private static func refused(_ status: Int, _ reason: String) -> Outcome {
        .rejected(Rejection(status: status, reasonText: reason, timestamp: nil))
    }

    private static func resend(
        _ response: JSONClient.Response,
        _ body: JSONValue = [:],
        _ provider: RunningProvider,
        headers: [String: String] = [:]
    ) async throws -> JSONClient.Response {
        let id = response.json["id"].stringValue ?? ""
        return try await provider.api.post("/v1/notifications/\(id):resend", body, headers: headers)
    }

    @Test(arguments: [false, true])
    func exactlyTheFailedGetItAgain(byToken: Bool) async throws {
        let sender = ScriptedSender()
        // 1 accepted, 2 with a dead token, 3 and 4 refused for what they say.
        sender.script(.numbered(2), Self.refused(400, "BadDeviceToken"))
        sender.script(.numbered(3), Self.refused(413, "PayloadTooLarge"))
        sender.script(.numbered(4), Self.refused(400, "BadCollapseId"))
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            for number in 1...4 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            let tokens: JSONValue = .array((1...4).map { .string(DeviceToken.numbered($0).hex) })
            let first = try await provider.send([
                "to": byToken ? ["tokens": tokens] : ["all": true], "environment": "sandbox", "alert": "Hi",
                "name": "Spring", "collapseId": "c",
            ])
            _ = try await provider.finished(first)
            let second = try await Self.resend(first, [:], provider)
            #expect(second.status == 202)
            #expect(second.json["resendOf"] == first.json["id"])
            #expect(second.json["name"] == "Spring")
            #expect(second.json["collapseId"] == "c")
            let end = try await provider.finished(second)
            #expect(end["counters"]["accepted"] == 2)
            #expect(end["recipients"] == 2)
            #expect(sender.sent.dropFirst(4).map(\.token).sorted { $0.hex < $1.hex } == [.numbered(3), .numbered(4)])
            // The same request is the same notification, with a key or without.
            let again = try await Self.resend(first, [:], provider)
            #expect(again.json["id"] == second.json["id"])
            #expect(again.headers["idempotency-replayed"] == "true")
            let nobody = try await Self.resend(second, [:], provider)
            #expect(nobody.status == 409)
            #expect(nobody.code == "nothing_to_resend")
            #expect(sender.sent.count == 6)
        }
    }

    @Test func statesAndReasonsChoose() async throws {
        let sender = ScriptedSender()
        sender.script(.numbered(1), Self.refused(400, "BadDeviceToken"))
        sender.script(.numbered(2), Self.refused(400, "BadPriority"))
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            for number in 1...3 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            let first = try await provider.send(["to": ["all": true], "alert": "Hi", "expiresIn": 3600])
            _ = try await provider.finished(first)
            #expect(try await Self.resend(first, ["states": ["failed"]], provider).code == "nothing_to_resend")
            let named = try await Self.resend(
                first,
                ["reasons": ["BadPriority"], "expiresIn": "2h", "name": "x"],
                provider
            )
            #expect(named.json["expiresIn"] == 7200)
            #expect(named.json["name"] == "x")
            _ = try await provider.finished(named)
            #expect(sender.sent.dropFirst(3).map(\.token) == [.numbered(2)])
            for (body, field) in [
                (["states": ["accepted"]], "states"), (["states": []], "states"), (["states": "failed"], "states"),
                (["reasons": []], "reasons"), (["reasons": [""]], "reasons[0]"), (["expiresIn": 0], "expiresIn"),
                (["expiration": 1_500_000_000], "expiration"), (["to": ["all": true]], "to"), (["name": ""], "name"),
            ] as [(JSONValue, String)] {
                let response = try await Self.resend(first, body, provider)
                #expect(response.status == 400, "\(body)")
                #expect(response.field == field, "\(body)")
            }
            let key = ["idempotency-key": "k"]
            _ = try await Self.resend(first, ["reasons": ["BadPriority"]], provider, headers: key)
            let other = try await Self.resend(first, ["reasons": ["Other"]], provider, headers: key)
            #expect(other.code == "idempotency_conflict")
        }
    }

    /// A recipient that may have it is sent to again only by name.
    @Test func unknownIsSentAgainOnlyByName() async throws {
        let sender = ScriptedSender()
        sender.script(.numbered(1), .unknown(.init("connection lost")))
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            for number in 1...2 { _ = try await provider.register(DeviceToken.numbered(number).hex) }
            let first = try await provider.send(["to": ["all": true], "alert": "Hi", "guarantee": "atMostOnce"])
            let end = try await provider.finished(first)
            #expect(end["counters"]["unknown"] == 1)
            #expect(end["counters"]["failed"] == 0)
            let id = try #require(end["id"].stringValue)
            let listed = try await provider.api.get("/v1/notifications/\(id)/deliveries?state=unknown")
            #expect(listed.json["deliveries"].elements.map { $0["state"] } == ["unknown"])
            #expect(try await Self.resend(first, [:], provider).code == "nothing_to_resend")
            let again = try await Self.resend(first, ["states": ["unknown"]], provider)
            _ = try await provider.finished(again)
            #expect(sender.sent.dropFirst(2).map(\.token) == [.numbered(1)])
        }
    }

    @Test func whatIsInProgressIsNotSentAgain() async throws {
        try await withProvider(senders: ScriptedSender()) { provider in
            try await provider.addVectorsApp()
            let later: JSONValue = [
                "to": ["all": true], "alert": "Hi",
                "when": ["at": .integer(Int64(Date().timeIntervalSince1970) + 3600)],
            ]
            let first = try await provider.send(later)
            let response = try await Self.resend(first, [:], provider)
            #expect(response.status == 409)
            #expect(response.code == "wrong_state")
            let missing = try await provider.api.post("/v1/notifications/\(UUID().uuidString):resend", [:])
            #expect(missing.status == 404)
        }
    }

    /// The first of three is erased: the others are still themselves, for what is sent again and for what is waited for.
    @Test func theOthersOfAnErasedTokenKeepTheirOutcomes() async throws {
        let sender = ScriptedSender()
        sender.script(.numbered(2), Self.refused(413, "PayloadTooLarge"))
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp(in: [.sandbox])
            let tokens = (1...3).map { JSONValue.string(DeviceToken.numbered($0).hex) }
            let body: JSONValue = ["to": ["tokens": .array(tokens)], "environment": "sandbox", "alert": "Hi"]
            let (path, key) = ("/v1/apps/\(Vectors.bundleID)", ["idempotency-key": "a"])
            let first = try await provider.api.post("\(path)/notifications?wait=30", body, headers: key)
            _ = try await provider.finished(first)
            _ = try await provider.register(DeviceToken.numbered(1).hex, ["user": "alice"])
            while try await provider.api.delete("\(path)/users/alice").status != 200 { try Task.checkCancellation() }
            let again = try await provider.api.post("\(path)/notifications?wait=30", body, headers: key)
            let outcomes = again.json["outcomes"].elements
            #expect(outcomes.map { $0["token"] } == [tokens[1], tokens[2]])
            #expect(outcomes.map { $0["state"] } == ["rejected", "accepted"])
            #expect(again.json["pending"] == 0)
            _ = try await provider.finished(try await Self.resend(first, [:], provider))
            #expect(sender.sent.dropFirst(3).map(\.token) == [.numbered(2)])
        }
    }
}
