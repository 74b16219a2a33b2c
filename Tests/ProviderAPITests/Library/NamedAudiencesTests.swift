import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderAPI

/// Named audiences over a real port.
@Suite(.timeLimit(.patience)) struct NamedAudiencesTests {
    private static let app = "/v1/apps/\(Vectors.bundleID)"
    private static let path = "\(Self.app)/audiences"
    private static let named: JSONValue = ["named": "beta testers"]

    private func withBeta(
        time: any TimeSource = SystemTime(),
        _ body: @escaping @Sendable (RunningProvider) async throws -> Void
    ) async throws {
        try await withProvider(senders: ScriptedSender(), time: time) { provider in
            try await provider.addVectorsApp()
            for number in 0..<4 {
                let tags: JSONValue = number < 3 ? ["beta"] : ["other"]
                _ = try await provider.register(DeviceToken.numbered(number).hex, ["tags": tags])
            }
            let saved = try await provider.api.put("\(Self.path)/beta%20testers", ["audience": ["tag": "beta"]])
            #expect(saved.status == 201 && saved.json["version"] == 1)
            #expect(saved.json["changedBy"]["name"] == "first admin key")
            try await body(provider)
        }
    }

    @Test func anAcceptedNotificationKeepsTheAudienceThatItWasAcceptedWith() async throws {
        try await self.withBeta(time: ManualTime()) { provider in
            let counted = try await provider.api.post("\(Self.app)/audience:count", ["audience": Self.named])
            #expect(counted.json["count"] == 3)
            let preview = try await provider.api.post(
                "\(Self.app)/notifications:preview",
                ["to": ["and": [Self.named, ["not": ["tag": "other"]]]], "alert": "Hi"]
            )
            #expect(preview.json["recipients"] == 3)
            let request: JSONValue = ["to": Self.named, "alert": "Hi", "when": ["at": "2023-12-01T00:00:00Z"]]
            let sent = try await provider.send(request, headers: ["idempotency-key": "once"])
            #expect(sent.status == 202)
            let changed = try await provider.api.put("\(Self.path)/beta%20testers", ["audience": ["tag": "other"]])
            #expect(changed.status == 200 && changed.json["version"] == 2)
            let later = try await provider.api.get("/v1/notifications/\(sent.json["id"].stringValue ?? "")")
            #expect(later.json["to"] == ["tag": "beta"])
            let again = try await provider.send(request, headers: ["idempotency-key": "once"])
            #expect(again.json["id"] == sent.json["id"], "a repetition is the notification of the first time")
            #expect(try await provider.api.delete("\(Self.path)/beta%20testers").status == 204)
            #expect(try await provider.send(request).json["error"]["code"] == "no_such_audience")
        }
    }

    @Test func aScheduleResolvesTheNameAtEachRunAndKeepsTheAudience() async throws {
        let time = ManualTime()
        try await self.withBeta(time: time) { provider in
            let schedule = try await provider.api.post(
                "\(Self.app)/schedules",
                [
                    "name": "daily", "schedule": ["cron": "0 9 * * *", "timeZone": "UTC"],
                    "notification": ["to": Self.named, "alert": "Hi"],
                ]
            )
            #expect(schedule.status == 201)
            #expect(schedule.json["notification"]["to"] == Self.named)
            let removed = try await provider.api.delete("\(Self.path)/beta%20testers")
            #expect(removed.status == 409 && removed.json["error"]["code"] == "audience_in_use")
            let renamed: JSONValue = ["name": "gamma", "audience": ["tag": "beta"]]
            #expect(try await provider.api.put("\(Self.path)/beta%20testers", renamed).status == 409)
            try await provider.api.put("\(Self.path)/beta%20testers", ["audience": ["tag": "other"]])
            time.advance(by: .seconds(38_830))
            while true {
                let list = try await provider.api.get("\(Self.app)/notifications").json["notifications"].elements
                if let run = list.first {
                    let id = run["id"].stringValue ?? ""
                    #expect(try await provider.api.get("/v1/notifications/\(id)").json["to"] == ["tag": "other"])
                    break
                }
                try Task.checkCancellation()
            }
            let id = schedule.json["id"].stringValue ?? ""
            #expect(try await provider.api.delete("/v1/schedules/\(id)").status == 204)
            #expect(try await provider.api.delete("\(Self.path)/beta%20testers").status == 204)
        }
    }

    @Test func changesAreConditionalAndVersionsCanBeRestored() async throws {
        try await self.withBeta { provider in
            let item = "\(Self.path)/beta%20testers"
            let stale = try await provider.api.put(item, ["audience": ["tag": "b"], "version": 0])
            #expect(stale.status == 409 && stale.json["error"]["code"] == "changed_meanwhile")
            let id = try await provider.api.get(item).json["id"].stringValue ?? ""
            let body: JSONValue = ["audience": ["tag": "b"], "version": 1, "description": "those who like risks"]
            #expect(try await provider.api.put("\(Self.path)/\(id)", body).json["version"] == 2)
            let restored = try await provider.api.post("\(item):restore", ["version": 1])
            #expect(restored.json["version"] == 3 && restored.json["audience"] == ["tag": "beta"])
            let versions = try await provider.api.get("\(item)/versions").json["versions"].elements
            #expect(versions.map { $0["version"] } == [3, 2, 1] && versions.first?["restoredFrom"] == 1)
            #expect(try await provider.api.post("\(item):restore", ["version": 9]).status == 404)
            #expect(try await provider.api.delete("\(item)?version=1").status == 409)
            let list = try await provider.api.get("\(Self.path)?limit=1").json
            #expect(list["audiences"].elements.map { $0["name"] } == ["beta testers"])
        }
    }

    @Test func namesAreListedWithoutTheConditions() async throws {
        try await self.withBeta { provider in
            #expect(try await provider.api.put("\(Self.path)/second", ["audience": ["tag": "b"]]).status == 201)
            let first = try await provider.api.get("\(Self.path):names?limit=1").json
            guard case .object(let entry)? = first["audiences"].elements.first else {
                Issue.record("there is no name")
                return
            }
            #expect(Set(entry.keys) == ["id", "name"] && entry["name"] == "beta testers")
            let cursor = try #require(first["next"].stringValue)
            let rest = try await provider.api.get("\(Self.path):names?cursor=\(cursor)").json
            #expect(rest["audiences"].elements.map { $0["name"] } == ["second"] && rest["next"] == .null)
            #expect(try await provider.api.get("\(Self.app)/templates:names").json["templates"] == [])
        }
    }

    @Test func badAudiencesAreRefusedWithTheirMember() async throws {
        try await self.withBeta { provider in
            let cases: [(JSONValue, Int, String, String?)] = [
                (["name": "beta testers", "audience": ["all": true]], 409, "name_taken", "name"),
                (["audience": ["all": true]], 400, "missing_field", "name"),
                (["name": "x"], 400, "missing_field", "audience"),
                (["name": "x", "audience": ["tg": "a"]], 400, "unknown_field", "audience.tg"),
                (["name": "x", "audience": ["named": "beta testers"]], 400, "nested_name", "audience.named"),
                (["name": "x", "audience": ["tokens": ["00"]]], 400, "unknown_field", "audience.tokens"),
                (["name": .string(UUID().uuidString), "audience": ["all": true]], 400, "invalid_value", "name"),
            ]
            for (body, status, code, field) in cases {
                let response = try await provider.api.post(Self.path, body)
                #expect(response.status == status && response.json["error"]["code"] == .string(code), "\(body)")
                #expect(response.json["error"]["field"].stringValue == field)
            }
            #expect(try await provider.api.get("\(Self.path)/nobody").json["error"]["code"] == "no_such_audience")
        }
    }

    @Test func anErasedUserGoesFromAudiencesAndTheirVersions() async throws {
        try await self.withBeta { provider in
            let item = "\(Self.path)/some"
            let both: JSONValue = ["audience": ["users": ["alice", "bob"]]]
            try await provider.api.put(item, ["audience": ["user": "alice"]])
            #expect(try await provider.api.put(item, both).json["version"] == 2)
            let erased = try await provider.api.delete("\(Self.app)/users/alice")
            #expect(erased.status == 200 || erased.status == 202)
            #expect(try await provider.api.get(item).json["audience"] == ["users": ["bob"]])
            let versions = try await provider.api.get("\(item)/versions").json["versions"].elements
            #expect(versions.last?["audience"] == ["not": ["all": true]])
        }
    }
}
