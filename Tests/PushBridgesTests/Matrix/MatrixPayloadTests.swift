import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// The three shapes of payloads, and their size.
@Suite struct MatrixPayloadTests {
    @Test func anEventWithoutItsContentTellsTheExtensionWhereToLook() throws {
        let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(MatrixVectors.eventOnly)))
        #expect(push.json == MatrixVectors.eventOnlyPayload)
        #expect(push.size == 185)
        #expect(push.pushType == .alert)
        #expect(push.priority == .immediate)
        #expect(push.token.hex == Vectors.tokenA)
        #expect(push.since == Vectors.issuedAt)
        #expect(push.expiration == .at(seconds: 1_700_086_400))
        #expect(push.collapseID == nil)
    }

    @Test func anEventWithItsContentHasATextAndABadge() throws {
        let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(MatrixVectors.full)))
        #expect(push.json == MatrixVectors.fullPayload)
        #expect(push.pushType == .alert)
        #expect(push.priority == .powerAware)
    }

    @Test func aNumberOfUnreadMessagesIsABadge() throws {
        let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(MatrixVectors.countOnly)))
        #expect(push.json == ["aps": ["badge": 0]])
        #expect(push.collapseID == "badge")
        #expect(push.idempotency == nil)
        #expect(push.priority == .immediate)
    }

    @Test func anAppMayWantNoNumbers() throws {
        let settings: JSONValue = ["counts": false]
        let bodies = [MatrixVectors.eventOnly, MatrixVectors.full, MatrixVectors.countOnly]
        let notifications = try bodies.map { try MatrixVectors.notification($0) }
        let event = try #require(try MatrixVectors.push(notifications[0], settings: settings))
        #expect(event.json["unread_count"] == .null)
        let full = try #require(try MatrixVectors.push(notifications[1], settings: settings))
        #expect(full.json["aps"]["badge"] == .null)
        #expect(full.json["aps"]["alert"] != .null)
        let plans = try MatrixVectors.plans(notifications[2], [try MatrixVectors.app(settings: settings)])
        #expect(plans == [.nothing])
    }

    @Test func withoutNumbersThereIsNothingToSay() throws {
        let notification = try MatrixVectors.notification(MatrixVectors.body([:]))
        #expect(try MatrixVectors.plans(notification, [MatrixVectors.app()]) == [.nothing])
    }

    @Test func theSoundOfPushRulesIsPlayedForAppsThatWantIt() throws {
        let notification = try MatrixVectors.notification(MatrixVectors.full)
        let push = try #require(try MatrixVectors.push(notification, settings: ["sound": true]))
        #expect(push.json["aps"]["sound"] == "default")
    }

    @Test func theAppsOwnPayloadIsTheBaseOfATextToo() throws {
        let own: JSONValue = [
            "aps": ["alert": ["title-loc-key": "T", "loc-key": "x"], "mutable-content": 1, "thread-id": "t"],
            "mine": [1, "a"],
        ]
        let members: [String: JSONValue] = [
            "type": "m.room.encrypted", "sender": "@a:x", "event_id": "$e", "room_id": "!r",
        ]
        let body = MatrixVectors.body(members, device: ["data": ["default_payload": own]])
        let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(body)))
        #expect(
            push.json == [
                "aps": [
                    "alert": ["title-loc-key": "T", "loc-key": "MSG_FROM_USER", "loc-args": ["@a:x"]],
                    "mutable-content": 1,
                    "thread-id": "t",
                ],
                "mine": [1, "a"], "event_id": "$e", "room_id": "!r",
            ]
        )
    }

    @Test(arguments: [["aps": ["alert": "Hi"]], ["aps": ["alert": 1]], ["aps": "Hi"], ["aps": [:]]] as [JSONValue])
    func aTextInPlaceOfAnObjectIsReplaced(own: JSONValue) throws {
        let body = MatrixVectors.body(
            ["type": "m.room.encrypted", "sender": "@a:x"],
            device: ["data": ["default_payload": own]]
        )
        let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(body)))
        #expect(push.json["aps"] == ["alert": ["loc-key": "MSG_FROM_USER", "loc-args": ["@a:x"]]])
    }

    @Test func anEventThatShowsNothingWakesTheApp() throws {
        let push = try #require(
            try MatrixVectors.push(
                try MatrixVectors.notification(MatrixVectors.body(["event_id": "$e", "room_id": "!r"]))
            )
        )
        #expect(push.json == ["aps": ["content-available": 1], "event_id": "$e", "room_id": "!r"])
        #expect(push.pushType == .background)
        #expect(push.priority == .powerAware)
    }

    @Test func longTextsAreCutAndTheLongestFirst() throws {
        for letter in ["a", "ä", "€", "😀", "\"", "\u{1}"] {
            let members: [String: JSONValue] = [
                "type": "m.room.message", "sender_display_name": "Ada",
                "room_name": .string(String(repeating: "r", count: 500)),
                "content": ["msgtype": "m.text", "body": .string(String(repeating: letter, count: 6000))],
                "event_id": "$e", "room_id": "!r",
            ]
            let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(MatrixVectors.body(members))))
            #expect(push.size <= 4096)
            #expect(push.size > 4096 - 12, "not much more than needed is cut")
            let arguments = push.json["aps"]["alert"]["loc-args"].elements
            #expect(arguments.count == 3)
            #expect(arguments.first == "Ada")
            #expect(arguments[1].stringValue?.count == 500)
            #expect(arguments[2].stringValue?.allSatisfy { String($0) == letter } == true)
        }
    }

    @Test func anAlertOfTheAppIsCutToo() throws {
        let long = JSONValue.string(String(repeating: "x", count: 5000))
        for own in [["aps": ["alert": long]], ["aps": ["alert": ["body": long]]]] as [JSONValue] {
            let body = MatrixVectors.body(["event_id": "$e"], device: ["data": ["default_payload": own]])
            let push = try #require(try MatrixVectors.push(try MatrixVectors.notification(body)))
            #expect(push.size == 4096)
        }
    }

    @Test func whatCannotBeCutIsLeftToThePushServiceOrDropped() throws {
        for (size, isKept) in [(5000, true), (40_000, false)] {
            let own: JSONValue = ["data": .string(String(repeating: "x", count: size))]
            let body = MatrixVectors.body(["event_id": "$e"], device: ["data": ["default_payload": own]])
            let notification = try MatrixVectors.notification(body)
            let push = try #require(try MatrixVectors.push(notification))
            #expect((push.payload() != nil) == isKept)
            #expect(!isKept || push.size > 4096)
        }
    }

    @Test func roomsCollapseForAppsThatWantIt() throws {
        let long = "!\(String(repeating: "r", count: 80)):x"
        func collapseID(_ room: String, _ settings: JSONValue, _ data: JSONValue) throws -> String? {
            let members: [String: JSONValue] = ["event_id": "$e", "room_id": .string(room)]
            let body = MatrixVectors.body(members, device: ["data": data])
            return try MatrixVectors.push(try MatrixVectors.notification(body), settings: settings)?.collapseID
        }
        #expect(try collapseID("!r:x", [:], [:]) == nil)
        #expect(try collapseID("!r:x", ["collapse": true], [:]) == "!r:x")
        #expect(try collapseID("!r:x", [:], ["collapse": true]) == "!r:x")
        #expect(try collapseID(long, ["collapse": true], [:])?.count == 32)
    }
}
