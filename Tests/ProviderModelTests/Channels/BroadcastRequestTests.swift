import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct BroadcastRequestTests {
    private static let update: JSONValue = ["event": "update", "contentState": ["home": 1]]

    private func channel(_ storage: ChannelStorage = .newest) throws -> ChannelRecord {
        let id = try #require(ChannelID("dGVzdC0x"))
        return ChannelRecord(id: id, app: 1, environment: .production, storage: storage, createdAt: Vectors.issuedAt)
    }

    private func read(
        _ members: [String: JSONValue],
        storage: ChannelStorage = .newest
    ) throws -> NotificationRequest {
        let all = ["channel": "dGVzdC0x", "liveActivity": Self.update].merging(members) { $1 }
        let request = try BroadcastRequest(JSONFields(.object(all), known: BroadcastRequest.object.known))
        let app = try #require(Topic(Vectors.bundleID))
        return try request.notification(to: try self.channel(storage), of: app, now: Vectors.issuedAt)
    }

    @Test func itIsANotificationToItsChannelInTheUrgentLane() throws {
        let request = try self.read(["name": "goal", "priority": 5, "guarantee": "atMostOnce"])
        let channel = try self.channel()
        #expect(request.audience == .channel(BroadcastChannel(id: channel.id, storage: .newest)))
        #expect(request.environment == .production && request.lane == .urgent && request.name == "goal")
        #expect(request.content.topic.name == Vectors.bundleID && request.content.pushType == .liveactivity)
        #expect(request.content.priority == .powerAware && request.content.tokenKind == nil)
        #expect(request.guarantee == .atMostOnce)
        #expect(request.consent.ignoresCap && request.consent.ignoresQuietHours)
        let payload = try JSONValue(parsing: request.content.payload)
        #expect(payload["aps"]["event"] == "update" && payload["aps"]["content-state"] == ["home": 1])
        #expect(payload["aps"]["timestamp"] == .integer(Vectors.issuedAt.seconds))
    }

    @Test func theExpirationFitsTheStorage() throws {
        #expect(try self.read([:]).content.expiresIn == 8 * 3600)
        #expect(try self.read([:], storage: .none).content.expiration == .immediate)
        // A channel without storage is tried for so long, and stores nothing.
        let tried = try self.read(["expiresIn": "10m"], storage: .none).content
        #expect(tried.expiresIn == 600 && tried.expiration == .servicePolicy)
        let long = try self.read(["expiresIn": "2d"])
        #expect(long.warnings.map(\.field).contains("expiresIn"))
    }

    @Test func aRawPayloadMayHaveFiveKibibytes() throws {
        let state = JSONValue.object(["text": .string(String(repeating: "x", count: 4900))])
        let aps: JSONValue = .object(["timestamp": 1_700_000_000, "event": "end", "content-state": state])
        let members: [String: JSONValue] = ["liveActivity": .null, "payload": .object(["aps": aps])]
        #expect(try self.read(members).content.payload.count > 4096)
        let larger = JSONValue.object(["text": .string(String(repeating: "x", count: 5120))])
        let tooMuch: JSONValue = .object(["timestamp": 1_700_000_000, "event": "end", "content-state": larger])
        let error = #expect(throws: RequestError.self) {
            try self.read(["liveActivity": .null, "payload": .object(["aps": tooMuch])])
        }
        #expect(error?.code == "payload_too_large" && error?.message.contains("5120") == true)
    }

    @Test(
        arguments: [
            (["channel": "no id"], "channel"), (["channel": .null], "channel"),
            (["liveActivity": .null], "payload"), (["liveActivity": ["event": "update"]], "liveActivity.contentState"),
            (
                [
                    "liveActivity": ["event": "start", "contentState": [:], "attributesType": "A", "attributes": [:]],
                    "alert": ["title": "a", "body": "b"],
                ], nil
            ),
            (["to": ["all": true]], "to"), (["template": true], "template"), (["priority": 1], "priority"),
            (["expiration": "2020-01-01T00:00:00Z"], "expiration"), (["environment": "test"], "environment"),
            (["when": ["at": "2030-01-01T00:00:00Z"]], "when"), (["pushType": "alert"], "pushType"),
        ] as [([String: JSONValue], String?)]
    )
    func whatIsNoBroadcastIsRefusedAtItsMember(members: [String: JSONValue], field: String?) throws {
        let error = #expect(throws: RequestError.self) { try self.read(members) }
        if let field, field != "payload" { #expect(error?.path == field) }
    }
}
