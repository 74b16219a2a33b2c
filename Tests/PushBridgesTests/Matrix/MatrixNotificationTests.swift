import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The bodies of homeservers.
@Suite struct MatrixNotificationTests {
    @Test func allMembersAreRead() throws {
        let notification = try MatrixVectors.notification(MatrixVectors.full)
        #expect(notification.eventID == "$e2")
        #expect(notification.roomID == "!r1:example.org")
        #expect(notification.type == "m.room.message")
        #expect(notification.sender == "@ada:example.org")
        #expect(notification.senderName == "Ada")
        #expect(notification.roomName == "Lab")
        #expect(notification.roomAlias == nil)
        #expect(notification.content["body"] == "tea?")
        #expect(!notification.isUrgent)
        #expect(notification.counts.badge == 3)
        let device = try #require(notification.devices.first)
        #expect(device.appID == MatrixVectors.appID)
        #expect(device.pushkey == MatrixVectors.tokenA)
        #expect(device.since == nil)
        #expect(device.sound == "default")
    }

    @Test func nullsAndEmptyTextsAreLikeAbsentMembers() throws {
        let notification = try MatrixVectors.notification(MatrixVectors.countOnly)
        #expect(notification.eventID == nil)
        #expect(notification.type == nil)
        #expect(notification.sender == nil)
        #expect(notification.isUrgent)
        #expect(notification.counts.unread == 0)
        #expect(notification.counts.missedCalls == nil)
        #expect(notification.devices.first?.since == Vectors.issuedAt)
        let names = [
            "event_id", "id", "room_id", "type", "sender", "sender_display_name", "room_name", "room_alias",
            "membership",
            "user_is_target", "content", "prio", "counts", "org.example.new",
        ]
        let nulls = Dictionary(uniqueKeysWithValues: names.map { ($0, JSONValue.null) })
        let device: [String: JSONValue] = ["pushkey_ts": .null, "data": .null, "tweaks": .null, "org.example.new": 1]
        let empty = try MatrixVectors.notification(MatrixVectors.body(nulls, device: device))
        #expect(empty == (try MatrixVectors.notification(MatrixVectors.body([:]))))
    }

    @Test func theOldNameOfTheEventIDCounts() throws {
        let notification = try MatrixVectors.notification(MatrixVectors.body(["id": "$old"]))
        #expect(notification.eventID == "$old")
    }

    @Test(arguments: ["", "x", "{", "{\"notification\":", "\u{0}", "[1,]", "{\"a\":1}x"])
    func aBodyThatIsNotJSONIsNamed(text: String) {
        #expect(throws: MatrixError.self) { try MatrixVectors.notification(text) }
        do {
            _ = try MatrixVectors.notification(text)
        } catch {
            #expect((error as? MatrixError)?.code == .notJSON)
            #expect((error as? MatrixError)?.status == 400)
        }
    }

    @Test(arguments: [
        "[]", "{}", "null", "1", "{\"notification\":null}", "{\"notification\":[]}", "{\"notification\":{}}",
        "{\"notification\":{\"devices\":null}}", "{\"notification\":{\"devices\":{}}}",
        "{\"notification\":{\"devices\":[1]}}",
        "{\"notification\":{\"devices\":[{}]}}", "{\"notification\":{\"devices\":[{\"app_id\":\"a\"}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"a\",\"pushkey\":1}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"\",\"pushkey\":\"k\"}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\",\"data\":[]}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\",\"data\":{\"default_payload\":\"x\"}}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\",\"data\":{\"default_payload\":[]}}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\",\"tweaks\":{\"sound\":1}}]}}",
        "{\"notification\":{\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\",\"tweaks\":{\"highlight\":\"yes\"}}]}}",
        "{\"notification\":{\"event_id\":1,\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\"}]}}",
        "{\"notification\":{\"counts\":{\"unread\":\"2\"},\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\"}]}}",
        "{\"notification\":{\"content\":\"x\",\"devices\":[{\"app_id\":\"a\",\"pushkey\":\"k\"}]}}",
        String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000),
    ])
    func aBodyOfAnotherFormIsNamed(text: String) {
        do {
            _ = try MatrixVectors.notification(text)
            Issue.record("it is accepted")
        } catch {
            #expect((error as? MatrixError)?.code == .badJSON)
            #expect((error as? MatrixError)?.status == 400)
        }
    }

    /// The list is required, and may be empty.
    @Test func aNotificationMayNameNoDevice() throws {
        #expect(try MatrixVectors.notification("{\"notification\":{\"devices\":[]}}").devices.isEmpty)
    }

    @Test func aTweakWithoutAValueIsTrue() throws {
        let device: [String: JSONValue] = ["tweaks": ["sound": true, "highlight": true, "org.example.new": 1]]
        #expect(try MatrixVectors.notification(MatrixVectors.body([:], device: device)).devices.first?.sound == nil)
    }

    @Test func thereAreAtMostSoManyDevices() throws {
        let device: JSONValue = ["app_id": "a", "pushkey": "k"]
        func body(_ count: Int) -> JSONValue {
            MatrixVectors.body(["devices": .array(Array(repeating: device, count: count))])
        }
        #expect(try MatrixVectors.notification(body(100)).devices.count == 100)
        #expect(throws: MatrixError.self) { try MatrixVectors.notification(body(101)) }
    }

    /// They are written into the payload of each device.
    @Test(arguments: ["event_id", "id", "room_id", "sender", "type"])
    func idsHaveTheSizeOfTheSpecification(member: String) throws {
        func body(_ size: Int) -> JSONValue {
            MatrixVectors.body([member: .string(String(repeating: "i", count: size))])
        }
        _ = try MatrixVectors.notification(body(255))
        do {
            _ = try MatrixVectors.notification(body(256))
            Issue.record("it is accepted")
        } catch {
            #expect((error as? MatrixError)?.code == .badJSON && (error as? MatrixError)?.status == 400)
        }
    }

    @Test func numbersOfUnreadMessagesAreBounded() throws {
        let counts: JSONValue = ["unread": .integer(.max), "missed_calls": .integer(.min)]
        let notification = try MatrixVectors.notification(MatrixVectors.body(["counts": counts]))
        #expect(notification.counts.unread == 1_000_000_000)
        #expect(notification.counts.missedCalls == 0)
        #expect(notification.counts.badge == 1_000_000_000)
        let more: JSONValue = ["unread": .integer(.max), "missed_calls": .integer(.max)]
        #expect(try MatrixVectors.notification(MatrixVectors.body(["counts": more])).counts.badge == 2_000_000_000)
    }

    @Test func whatUsersChooseDoesNotStopANotification() throws {
        let device: [String: JSONValue] = ["data": ["default_payload": .null, "collapse": 1], "tweaks": ["sound": ""]]
        let content: JSONValue = ["msgtype": 1, "body": ["x"], "membership": 2]
        let notification = try MatrixVectors.notification(
            MatrixVectors.body(["type": "m.room.message", "content": content], device: device)
        )
        // A member whose name is no text would keep all later pushes back: homeservers repeat a request that is refused for a day.
        let names: [String: JSONValue] = ["sender_display_name": ["a": 1], "room_name": 1, "room_alias": [true]]
        let named = try MatrixVectors.notification(MatrixVectors.body(names.merging(["sender": "@ada:x"]) { $1 }))
        #expect(named.senderName == nil && named.roomName == nil && named.roomAlias == nil)
        #expect(named.sender == "@ada:x")
        #expect(notification.devices.first?.defaultPayload == [:])
        #expect(notification.devices.first?.collapses == false)
        #expect(notification.devices.first?.sound == nil)
        #expect(MatrixAlert(notification)?.key == "MSG_FROM_USER")
    }

    @Test(arguments: [
        MatrixVectors.tokenA, Vectors.tokenA, Vectors.tokenA.uppercased(),
        "MCvTjMFq32yTg-iEi5HYla_MsqWl0dUkNfFMRwqnF2c",
        "MCvTjMFq32yTg-iEi5HYla_MsqWl0dUkNfFMRwqnF2c=", "MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c",
    ])
    func aPushkeyIsADeviceToken(pushkey: String) {
        #expect(MatrixPushkey.token(pushkey)?.hex == Vectors.tokenA)
    }

    @Test(arguments: [
        "", "eA==", "k",
        "dGhlIGZpcmViYXNl:APA91bHPRgkF3JUikC4ENAHEeMrd41Zxv3hVZjC9KtT8OvPVGJ-hQMRKRrZuJAEcl7B338qju59zJMjw2DELjzE",
        String(repeating: "a", count: 513), "https://example.org/push/1", "äöü",
    ])
    func otherPushkeysAreNone(pushkey: String) {
        #expect(MatrixPushkey.token(pushkey) == nil)
    }

    @Test func aHashTellsPushkeysApart() {
        #expect(MatrixPushkey.hash("a") == "ca978112ca1bbdca")
        #expect(MatrixPushkey.hash("a") != MatrixPushkey.hash("b"))
    }
}
