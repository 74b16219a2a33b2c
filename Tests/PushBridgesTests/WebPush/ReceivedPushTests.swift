import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushBridges

/// The notification that a message becomes.
@Suite struct ReceivedPushTests {
    private let resource = PushResourceRecord(
        hash: Array(repeating: 1, count: 32),
        app: 1,
        installation: "a phone",
        createdAt: Vectors.issuedAt
    )

    private func push(
        _ body: [UInt8],
        _ headers: [String: String] = [:],
        name: String = "",
        token: PushCapability = PushCapability()
    ) throws -> ReceivedPush {
        var headers = headers
        headers["ttl"] = headers["ttl"] ?? "60"
        headers["content-encoding"] = headers["content-encoding"] ?? "aes128gcm"
        let request = try WebPushRequest(hasBody: !body.isEmpty) { name in headers[name].map { [$0] } ?? [] }
        var resource = self.resource
        resource.name = name
        return try ReceivedPush(
            request,
            body: Data(body),
            to: resource,
            of: try #require(Topic(Vectors.bundleID)),
            id: try #require(UUID(uuidString: "A0000000-0000-4000-8000-000000000001")),
            token: token,
            now: Vectors.issuedAt
        )
    }

    private func payload(_ push: ReceivedPush) throws -> JSONValue { try JSONValue(parsing: push.content.payload) }

    @Test func aBodyBecomesAMember() throws {
        let body = [UInt8](repeating: 0xFB, count: 144)
        let push = try self.push(body, ["urgency": "high", "topic": "upd"])
        let frame: JSONValue = ["alert": ["loc-key": "WP"], "mutable-content": 1]
        #expect(try self.payload(push) == ["aps": frame, "wp": .string(Base64URL.encode(body))])
        #expect(push.content.payload.count == 254)
        #expect(push.content.pushType == .alert && push.content.tokenKind == .alert)
        #expect(push.content.priority == .immediate)
        #expect(push.content.expiration == .at(seconds: 1_700_000_060))
        #expect(push.content.receipts == .none)
        #expect(push.stored == nil && push.ttl == 60)
    }

    @Test func theUrgencyIsThePriority() throws {
        for (urgency, priority) in [
            ("very-low", Priority.powerAware), ("low", .powerAware), ("normal", .immediate), ("high", .immediate),
        ] {
            let push = try self.push([1], ["urgency": urgency])
            #expect(push.content.priority == priority, "\(urgency)")
        }
    }

    @Test func theTimeToLiveIsTheExpiration() throws {
        #expect(try self.push([1], ["ttl": "0"]).content.expiration == .immediate)
        let longest = try self.push([1], ["ttl": "99999999999"])
        #expect(longest.ttl == 2_592_000)
        #expect(longest.content.expiration == .at(seconds: 1_702_592_000))
    }

    @Test func aTopicIsOfItsPushResource() throws {
        let (first, again) = (try self.push([1], ["topic": "upd"]), try self.push([2], ["topic": "upd"]))
        #expect(first.content.collapseID == again.content.collapseID)
        #expect(first.content.collapseID.map { (1...64).contains($0.utf8.count) } == true)
        #expect(try self.push([1], ["topic": "other"]).content.collapseID != first.content.collapseID)
        var other = self.resource
        other.id = UUID()
        #expect(ReceivedPush.collapseID("upd", of: other) != first.content.collapseID)
        #expect(try self.push([1]).content.collapseID == nil)
    }

    @Test func whatDoesNotFitIsKept() throws {
        let token = PushCapability()
        let largest = try self.push([UInt8](repeating: 1, count: 3025), token: token)
        #expect(largest.stored == nil && largest.content.payload.count == 4096)
        let body = [UInt8](repeating: 1, count: 3026)
        let push = try self.push(body, ["topic": "upd"], token: token)
        let payload = try self.payload(push)
        #expect(payload["wp"] == .null)
        #expect(payload["wpref"] == "a0000000-0000-4000-8000-000000000001")
        #expect(payload["wptoken"].stringValue == token.text)
        let stored = try #require(push.stored)
        #expect(stored.id == push.id && stored.body == Data(body) && stored.topic == "upd")
        #expect(stored.tokenHash == token.hash && stored.resource == self.resource.id)
        #expect(stored.expiresAt == Vectors.issuedAt.advanced(by: .seconds(60)))
        // One that is not to be kept must be there when the app asks for it.
        let brief = try self.push(body, ["ttl": "0"])
        #expect(brief.stored?.expiresAt == Vectors.issuedAt.advanced(by: .seconds(60)))
        #expect(brief.content.expiration == .immediate)
    }

    @Test func theOldCodingKeepsItsHeaders() throws {
        let (salt, key) = ([UInt8](repeating: 3, count: 16), [UInt8](repeating: 4, count: 65))
        let headers = [
            "content-encoding": "aesgcm", "encryption": "salt=\(Base64URL.encode(salt))",
            "crypto-key": "dh=\(Base64URL.encode(key))",
        ]
        for length in [10, 4096] {
            let payload = try self.payload(try self.push([UInt8](repeating: 1, count: length), headers))
            #expect(payload["wpsalt"].stringValue == Base64URL.encode(salt))
            #expect(payload["wpdh"].stringValue == Base64URL.encode(key))
        }
    }

    @Test func theNameIsHandedOn() throws {
        #expect(try self.payload(try self.push([1], name: "ada@example.social"))["wpid"] == "ada@example.social")
        #expect(try self.payload(try self.push([1]))["wpid"] == .null)
        let large = [UInt8](repeating: 1, count: 4096)
        #expect(try self.payload(try self.push(large, name: "\"\\\u{1}"))["wpid"] == "\"\\\u{1}")
    }

    @Test func anEmptyMessageWakesTheApp() throws {
        let push = try self.push([], ["urgency": "high"], name: "a")
        #expect(try self.payload(push) == ["aps": ["content-available": 1], "wp": "", "wpid": "a"])
        #expect(push.content.pushType == .background && push.content.priority == .powerAware)
    }

    @Test func capabilities() {
        let one = PushCapability()
        #expect(one.text.utf8.count == 27 && PushCapability(one.text) == one)
        #expect(one != PushCapability() && one.hash.count == 32)
        for text in ["", "a", one.text + "a", String(one.text.dropLast()), "%%%%%%%%%%%%%%%%%%%%%%%%%%%"] {
            #expect(PushCapability(text) == nil, "\(text)")
        }
    }
}
