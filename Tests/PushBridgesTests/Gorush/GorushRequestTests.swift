import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The bodies of gorush's clients, and the pushes that they become.
@Suite struct GorushRequestTests {
    static let app = Topic(Vectors.bundleID)
    static let tokenB = "2ca004c150548759e45a0c2ce605d028bec4f96268a707abb471d1de9056b203"
    private static let now = Vectors.issuedAt

    private static func request(_ text: String) throws -> GorushRequest { try GorushRequest(Data(text.utf8)) }

    /// Returns the one notification of a body.
    static func notification(_ members: JSONValue) throws -> GorushNotification {
        guard case .object(var object) = members else { throw GorushError.missing }
        object["platform"] = object["platform"] ?? 1
        let body: JSONValue = ["notifications": [.object(object)]]
        return try #require(try GorushRequest(body.text).notifications.first)
    }

    private static func push(_ members: JSONValue) throws -> TranslatedPush {
        try self.notification(members).push(to: #require(self.app), now: self.now)
    }

    private static func payload(_ members: JSONValue) throws -> JSONValue {
        try self.push(members).members["payload"] ?? .null
    }

    @Test func theFirstVectorIsAnAlert() throws {
        let text = """
            {"notifications":[{"platform":1,"topic":"com.example.MyApp","tokens":["\(Vectors.tokenA)"],
             "title":"Tea","message":"It is ready","badge":1,"sound":"default","data":{"k":1},"notif_id":"n1"}]}
            """
        let request = try Self.request(text)
        #expect(request.count == 2, "one token, and one for the topic")
        let notification = try #require(request.notifications.first)
        #expect(notification.tokens == [Vectors.tokenA])
        let push = try notification.push(to: #require(Self.app), now: Self.now)
        #expect(push.name == "n1")
        #expect(push.members["pushType"] == "alert")
        #expect(push.members["priority"] == nil)
        #expect(push.members["topic"] == nil, "the app's own")
        let alert: JSONValue = ["title": "Tea", "body": "It is ready"]
        #expect(
            push.members["payload"] == ["aps": ["alert": alert, "badge": 1, "sound": "default"], "k": 1]
        )
        let checked = try push.checked(for: #require(Self.app), now: Self.now)
        #expect(checked.content.topic == Self.app)
        #expect(checked.content.priority == .immediate)
    }

    @Test(arguments: [
        (#"{"notifications":[]}"#, GorushError.empty), ("{}", .missing), ("", .missing), ("nonsense", .missing),
        ("[]", .missing), (#"{"notifications":{}}"#, .missing), (#"{"notifications":null}"#, .missing),
        (#"{"notifications":[1]}"#, .missing), (#"{"notifications":[{"platform":1,"mutable_content":1}]}"#, .missing),
        (#"{"notifications":[{"platform":"1"}]}"#, .missing), (#"{"notifications":[{"tokens":["a",1]}]}"#, .missing),
        (#"{"notifications":[{"tokens":"a"}]}"#, .missing), (#"{"notifications":[{"badge":1.5}]}"#, .missing),
        (#"{"notifications":[{"alert":"x"}]}"#, .missing),
        (#"{"notifications":[{"alert":{"loc-args":[1]}}]}"#, .missing),
        (#"{"notifications":[{"data":[]}]}"#, .missing), (#"{"notifications":[{"expiration":"1"}]}"#, .missing),
    ])
    func anErrorOfTheWholeRequestHasGorushsWords(text: String, error: GorushError) {
        #expect(throws: error) { try Self.request(text) }
    }

    @Test func thereAreAtMostSoManyNotifications() throws {
        let entry = #"{"platform":2}"#
        let all = { (count: Int) in
            #"{"notifications":[\#(Array(repeating: entry, count: count).joined(separator: ","))]}"#
        }
        #expect(try Self.request(all(100)).notifications.isEmpty, "other platforms are dropped")
        let error = #expect(throws: GorushError.self) { try Self.request(all(101)) }
        #expect(error?.message == "Number of notifications(101) over limit(100)")
    }

    @Test func namesHaveAnyCaseAndNothingIsNothing() throws {
        let notification = try Self.notification([
            "Tokens": [.string(Vectors.tokenA), .null], "TITLE": "T", "message": .null, "sound": 7, "unknown": [1],
        ])
        #expect(notification.tokens == [Vectors.tokenA, ""])
        #expect(notification.message == "")
        #expect(try Self.payload(["Title": "T", "badge": .null]) == ["aps": ["alert": ["title": "T"]]])
    }

    @Test func aMessageAloneIsATextAndStaysBesideAnAlert() throws {
        #expect(try Self.payload(["message": "Hi"]) == ["aps": ["alert": "Hi"]])
        #expect(
            try Self.payload(["message": "Hi", "alert": ["subtitle": "S"]])
                == ["aps": ["alert": ["body": "Hi", "subtitle": "S"]]]
        )
        #expect(
            try Self.payload(["message": "Hi", "title": "T", "alert": ["title": "A", "body": "B"]])
                == ["aps": ["alert": ["title": "A", "body": "B"]]]
        )
    }

    @Test func everyMemberOfAnAlertIsKept() throws {
        let alert: JSONValue = [
            "title": "t", "subtitle": "s", "body": "b", "title-loc-key": "tk", "title-loc-args": ["1"], "loc-key": "k",
            "loc-args": ["2", "3"], "action": "a", "action-loc-key": "ak", "launch-image": "i", "summary-arg": "sa",
            "summary-arg-count": 3,
        ]
        #expect(try Self.payload(["alert": alert]) == ["aps": ["alert": alert]])
    }

    @Test(
        arguments: [
            (["sound": "a.caf"], "a.caf"), (["sound": ""], nil), (["sound": 1], nil),
            (
                ["sound": ["critical": 1, "name": "n", "volume": .number(0.5), "other": 1]],
                ["critical": 1, "name": "n", "volume": .number(0.5)]
            ),
            (["sound": "a.caf", "name": "n"], ["critical": 1, "name": "n", "volume": 1]),
            (["volume": .number(0.5)], ["critical": 1, "name": "default", "volume": .number(0.5)]),
        ] as [(JSONValue, JSONValue?)]
    )
    func aSoundIsATextOrThatOfACriticalAlert(members: JSONValue, sound: JSONValue?) throws {
        let payload = try Self.payload(members)
        #expect(payload["aps"]["sound"] == sound ?? .null)
    }

    @Test func theOtherMembersHaveTheirNamesOfTheService() throws {
        let members: JSONValue = [
            "message": "m", "content_available": true, "mutable_content": true, "category": "c", "thread-id": "th",
            "interruption_level": "passive", "url-args": ["u"], "relevance-score": .number(0.5),
            "event": "update", "timestamp": 1, "stale-date": 2, "dismissal-date": 0, "content-state": ["s": 1],
            "attributes-type": "A", "attributes": [:], "badge": -1, "image": "x", "android": [:], "retry": 9,
        ]
        #expect(
            try Self.payload(members) == [
                "aps": [
                    "alert": "m", "content-available": 1, "mutable-content": 1, "category": "c", "thread-id": "th",
                    "interruption-level": "passive", "url-args": ["u"], "relevance-score": .number(0.5),
                    "event": "update", "timestamp": 1, "stale-date": 2, "content-state": ["s": 1],
                    "attributes-type": "A",
                ]
            ]
        )
    }

    @Test func aSilentPushIsABackgroundPush() throws {
        for members in [
            ["content_available": true], ["content_available": true, "push_type": "alert", "priority": "high"],
            ["content_available": true, "mutable_content": true],
        ] as [JSONValue] {
            let push = try Self.push(members)
            #expect(push.members["pushType"] == "background")
            #expect(push.members["priority"] == nil)
            let checked = try push.checked(for: #require(Self.app), now: Self.now)
            #expect(checked.content.priority == .powerAware)
        }
        #expect(try Self.push(["content_available": true, "badge": 0]).members["pushType"] == "alert")
    }

    @Test(
        arguments: [
            ("com.example.MyApp.voip", nil, "voip"), ("com.example.MyApp", "voip", "voip"), ("org.other", nil, "alert"),
            ("com.example.MyApp.push-type.liveactivity", nil, "liveactivity"), (nil, nil, "alert"),
        ] as [(String?, String?, String)]
    )
    func thePushTypeFollowsTheTopic(topic: String?, named: String?, type: String) throws {
        let push = try Self.push(
            .members([
                "message": "m", "topic": topic.map { .string($0) }, "push_type": named.map { .string($0) },
            ])
        )
        #expect(push.members["pushType"] == .string(type))
        #expect(push.members["topic"] == (topic == "org.other" ? "org.other" : nil))
    }

    @Test(
        arguments: [
            (nil, nil), (0, 0), (-1, nil), (1_700_000_000, 0), (5, 0), (1_700_003_600, 1_700_003_600),
            (1_700_003_600_000, nil),
        ] as [(Int64?, Int64?)]
    )
    func anExpirationIsATimeOrOneTry(given: Int64?, expected: Int64?) throws {
        let push = try Self.push(.members(["message": "m", "expiration": given.map { .integer($0) }]))
        #expect(push.members["expiration"] == expected.map { .integer($0) })
    }

    @Test func prioritiesAndEnvironmentsAreNamed() throws {
        #expect(try Self.push(["message": "m", "priority": "normal"]).members["priority"] == 5)
        #expect(try Self.push(["message": "m", "priority": "high"]).members["priority"] == 10)
        #expect(try Self.push(["message": "m", "priority": "other"]).members["priority"] == nil)
        #expect(try Self.notification(["production": true, "development": true]).environment == .production)
        #expect(try Self.notification(["development": true]).environment == .sandbox)
        #expect(try Self.notification([:]).environment == nil)
    }

    @Test func dataWithTheNameOfEverythingElseIsRefused() throws {
        #expect(throws: RequestError.self) { try Self.push(["message": "m", "data": ["aps": 1]]) }
    }

    @Test(arguments: [
        ("payload_too_large", "payload", "PayloadTooLarge"), ("invalid_topic", "topic", "BadTopic"),
        ("invalid_push_type", "pushType", "InvalidPushType"), ("too_long", "collapseId", "BadCollapseId"),
        ("not_visible", "payload.aps", "payload.aps: m"),
        // Of a thousand tokens one has changed meanwhile.
        ("token_of_other_kind", "to.tokens[7]", "to.tokens[7]: m"),
    ])
    func whatIsRefusedHasTheReasonOfTheService(code: String, path: String, text: String) {
        let error = RequestError(.invalid, code: code, message: "m", path: path)
        #expect(GorushFailure.text(error) == text)
    }

    @Test func anEntryRepeatsNoMoreThanIsUseful() throws {
        let long = String(repeating: "ä", count: 10_000)
        let notification = try Self.notification(["message": .string(long), "notif_id": .string(long)])
        let entry = GorushLogEntry(notification, token: Vectors.tokenA, error: "e")
        #expect(entry.message.utf8.count <= 256 && (entry.id ?? "").utf8.count <= 256)
        #expect(entry.json["token"] == .string(Vectors.tokenA))
    }

    /// A request of 400 kB causes them.
    @Test func manyEntriesRepeatLittle() throws {
        let long = JSONValue.string(String(repeating: "\u{1}", count: 256))
        let notification = try Self.notification(["message": long, "notif_id": long])
        let entries = (0..<50_000).map { GorushLogEntry(notification, token: "\($0)", error: "BadDeviceToken") }
        let json = GorushLogEntry.json(entries)
        #expect(json.elements.count == entries.count)
        #expect(json.elements.first == entries.first?.json)
        let last: JSONValue = ["type": "failed-push", "platform": "ios", "token": "49999", "error": "BadDeviceToken"]
        #expect(json.elements.last == last)
        // 1 MiB of characters that take six bytes each, and what is each entry's own.
        #expect(try json.text.count < 12 * 1024 * 1024)
    }
}
