import Foundation
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@Suite(.timeLimit(.patience)) struct ChannelsControllerTests {
    private static let path = "/v1/apps/\(Vectors.bundleID)/channels"

    /// Returns the path of a channel, whose id may have slashes.
    private static func path(_ id: String) -> String {
        "\(Self.path)/\(id.replacingOccurrences(of: "/", with: "%2F").replacingOccurrences(of: "=", with: "%3D"))"
    }

    private static func scripted(_ sender: ScriptedSender) throws -> ScriptedChannels {
        try #require(sender.channels[.sandbox])
    }

    private func withApp(
        _ body: @escaping @Sendable (RunningProvider, ScriptedSender) async throws -> Void
    ) async throws {
        let sender = ScriptedSender()
        try await withProvider(senders: sender) { provider in
            try await provider.addVectorsApp()
            try await body(provider, sender)
        }
    }

    @Test func aChannelIsCreatedListedShownAndDeleted() async throws {
        try await self.withApp { provider, sender in
            let body: JSONValue = ["environment": "sandbox", "storage": "newest", "name": "match 7"]
            let made = try await provider.api.post(Self.path, body)
            #expect(made.status == 201 && made.json["storage"] == "newest" && made.json["name"] == "match 7")
            let id = try #require(made.json["id"].stringValue)
            #expect(try Self.scripted(sender).ids.map(\.text) == [id])
            let list = try await provider.api.get(Self.path).json["channels"].elements
            #expect(list.map { $0["id"].stringValue } == [id] && list.map { $0["state"] } == ["active"])
            let shown = try await provider.api.get(Self.path(id))
            #expect(shown.status == 200 && shown.json["id"].stringValue == id && shown.json["environment"] == "sandbox")
            #expect(try await provider.api.delete(Self.path(id)).status == 204)
            #expect(try Self.scripted(sender).ids.isEmpty)
            #expect(try await provider.api.get(Self.path).json["channels"].elements.isEmpty)
            let gone = try await provider.api.get(Self.path(id))
            #expect(gone.status == 404 && gone.code == "no_such_channel")
        }
    }

    @Test func theListSaysWhereAChannelIs() async throws {
        try await self.withApp { provider, sender in
            let app = try #require(Topic(Vectors.bundleID))
            let scripted = try Self.scripted(sender)
            for _ in 0..<2 { _ = try await provider.api.post(Self.path, ["environment": "sandbox"]) }
            let first = try #require(scripted.ids.first)
            scripted.remove(first)
            let foreign = try #require(ChannelID("foreign="))
            scripted.add(foreign, of: app)
            func states() async throws -> [JSONValue] {
                try await provider.api.get(Self.path).json["channels"].elements.map { $0["state"] }
            }
            #expect(try await states() == ["missing", "active", "foreign"])
            let unchecked = try await provider.api.get("\(Self.path)?check=false").json
            #expect(unchecked["channels"].elements.map { $0["state"] } == ["unchecked", "unchecked"])
            #expect(unchecked["problems"] == .null)
            #expect(try await provider.api.get("\(Self.path)?check=x").status == 400)
            scripted.reject(.serviceUnavailable)
            let busy = try await provider.api.get(Self.path).json
            #expect(busy["channels"].elements.map { $0["state"] } == ["unchecked", "unchecked"])
            #expect(busy["problems"].elements.map { $0["code"] } == ["push_service_busy"])
            // What was made elsewhere is known once it was asked for.
            let unnamed = try await provider.api.get(Self.path(foreign.text))
            #expect(unnamed.status == 404)
            #expect(try await provider.api.get("\(Self.path(foreign.text))?environment=sandbox").status == 200)
            #expect(try await states() == ["missing", "active", "active"])
            // What is gone there already is deleted too.
            #expect(try await provider.api.delete(Self.path(first.text)).status == 204)
        }
    }

    @Test(
        arguments: [
            (.cannotCreateChannelConfig, 409, "too_many_channels"), (.featureNotEnabled, 409, "broadcast_not_enabled"),
            (.topicMismatch, 409, "no_usable_credential"), (.tooManyRequests, 503, "push_service_busy"),
            (.badRequestParams, 409, "rejected_by_push_service"),
        ] as [(Reason, Int, String)]
    )
    func aRefusalOfThePushServiceExplainsItself(reason: Reason, status: Int, code: String) async throws {
        try await self.withApp { provider, sender in
            try Self.scripted(sender).reject(reason)
            let refused = try await provider.api.post(Self.path, ["environment": "sandbox"])
            #expect(refused.status == status && refused.code == code)
            #expect(try await provider.api.get(Self.path).json["channels"].elements.isEmpty)
        }
    }

    @Test func aLostResponseIsNoSuccess() async throws {
        try await self.withApp { provider, sender in
            try Self.scripted(sender).fail(.unknown(.init("lost")))
            let lost = try await provider.api.post(Self.path, ["environment": "sandbox"])
            #expect(lost.status == 503 && lost.code == "unknown_outcome")
            try Self.scripted(sender).fail(.notSent(.init("refused")))
            let notSent = try await provider.api.post(Self.path, ["environment": "sandbox"])
            #expect(notSent.status == 503 && notSent.code == "push_service_unreachable")
        }
    }

    @Test func badRequestsAskNobody() async throws {
        try await self.withApp { provider, sender in
            for (body, field) in [
                ([:], "environment"), (["environment": "x"], "environment"),
                (["environment": "sandbox", "storage": "all"], "storage"),
                (["environment": "sandbox", "name": ""], "name"), (["environment": "sandbox", "id": "x"], "id"),
            ] as [(JSONValue, String)] {
                let refused = try await provider.api.post(Self.path, body)
                #expect(refused.status == 400 && refused.field == field, "\(body)")
            }
            #expect(try await provider.api.delete("\(Self.path)/not%20an%20id").status == 404)
            #expect(try Self.scripted(sender).requests == 0)
        }
    }

    // MARK: - Broadcasts

    private static let broadcasts = "/v1/apps/\(Vectors.bundleID)/broadcasts"

    private static func update(_ id: String, _ more: [String: JSONValue] = [:]) -> JSONValue {
        let update: JSONValue = ["event": "update", "contentState": ["home": 1]]
        return .object(["channel": .string(id), "liveActivity": update].merging(more) { $1 })
    }

    @Test func aBroadcastIsANotificationOfTheLedger() async throws {
        try await self.withApp { provider, sender in
            let made = try await provider.api.post(Self.path, ["environment": "sandbox", "storage": "newest"])
            let id = try #require(made.json["id"].stringValue)
            let sent = try await provider.api.post(Self.broadcasts, Self.update(id, ["name": "goal"]))
            #expect(sent.status == 202 && sent.json["to"] == ["channel": .string(id)] && sent.json["lane"] == "urgent")
            #expect(sent.json["recipients"] == 1 && sent.json["environment"] == "sandbox")
            let done = try await provider.finished(sent)
            #expect(done["counters"]["accepted"] == 1 && done["to"] == ["channel": .string(id)])
            let notification = try #require(sent.json["id"].stringValue)
            let deliveries = try await provider.api.get("/v1/notifications/\(notification)/deliveries").json
            #expect(deliveries["deliveries"].elements.map { $0["state"] } == ["accepted"])
            #expect(deliveries["deliveries"].elements.map { $0["token"] } == [.null])
            let apnsID = try #require(deliveries["deliveries"].elements.first?["apnsId"].stringValue)
            let timeline = try await provider.api.get("/v1/timeline?apnsId=\(apnsID)")
            #expect(timeline.status == 200)
            #expect(sender.sent.count == 1)
        }
    }

    @Test func aRepeatedBroadcastIsSentOnce() async throws {
        try await self.withApp { provider, sender in
            let made = try await provider.api.post(Self.path, ["environment": "sandbox"])
            let id = try #require(made.json["id"].stringValue)
            func post(_ body: JSONValue) async throws -> JSONClient.Response {
                try await provider.api.post(Self.broadcasts, body, headers: ["idempotency-key": "goal-1"])
            }
            let first = try await post(Self.update(id))
            let second = try await post(Self.update(id))
            #expect(first.json["id"] == second.json["id"] && second.status == 202)
            let other = try await post(Self.update(id, ["name": "other"]))
            #expect(other.status == 409 && other.code == "idempotency_conflict")
            _ = try await provider.finished(first)
            #expect(sender.sent.count == 1)
        }
    }

    @Test func aBroadcastNeedsAChannelAndAContent() async throws {
        try await self.withApp { provider, sender in
            let unknown = try await provider.api.post(Self.broadcasts, Self.update("dGVzdC0x"))
            #expect(unknown.status == 404 && unknown.code == "no_such_channel")
            let nowhere = try await provider.api.post(
                Self.broadcasts,
                Self.update("dGVzdC0x", ["environment": "sandbox"])
            )
            #expect(nowhere.status == 404)
            let made = try await provider.api.post(Self.path, ["environment": "sandbox"])
            let id = try #require(made.json["id"].stringValue)
            let start: JSONValue = [
                "event": "start", "contentState": [:], "attributesType": "A", "attributes": [:],
            ]
            for (more, field) in [
                (["liveActivity": .null], nil), (["to": ["all": true]], "to"), (["priority": 1], "priority"),
                (["liveActivity": start, "alert": ["title": "a", "body": "b"]], nil),
            ] as [([String: JSONValue], String?)] {
                let refused = try await provider.api.post(Self.broadcasts, Self.update(id, more))
                #expect(refused.status == 400, "\(more)")
                if let field { #expect(refused.field == field) }
            }
            #expect(sender.sent.isEmpty)
        }
    }

    @Test func aChannelOfAnotherToolIsAdopted() async throws {
        try await self.withApp { provider, sender in
            let app = try #require(Topic(Vectors.bundleID))
            let id = try #require(ChannelID("foreign="))
            try Self.scripted(sender).add(id, of: app, storing: .newest)
            let body = Self.update(id.text, ["environment": "sandbox"])
            let sent = try await provider.api.post(Self.broadcasts, body)
            #expect(sent.status == 202)
            #expect(try await provider.finished(sent)["counters"]["accepted"] == 1)
            // Known by now: nobody has to be asked.
            let requests = try Self.scripted(sender).requests
            #expect(try await provider.api.post(Self.broadcasts, Self.update(id.text)).status == 202)
            #expect(try Self.scripted(sender).requests == requests)
        }
    }
}
