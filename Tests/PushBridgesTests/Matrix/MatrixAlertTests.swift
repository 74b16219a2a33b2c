import PushSupport
import PushTesting
import Testing

@testable import PushBridges

/// The loc-keys and their arguments.
@Suite struct MatrixAlertTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let key: String
        let arguments: [String]
        let members: [String: JSONValue]

        init(_ key: String, _ arguments: [String], _ members: [String: JSONValue]) {
            (self.key, self.arguments, self.members) = (key, arguments, members)
        }

        var testDescription: String { self.key }
    }

    private static func message(_ type: JSONValue, _ body: JSONValue? = "hi", room: String? = nil) -> [String:
        JSONValue]
    {
        var content: [String: JSONValue] = ["msgtype": type]
        content["body"] = body
        var members: [String: JSONValue] = [
            "type": "m.room.message", "sender": "@ada:x", "sender_display_name": "Ada", "content": .object(content),
        ]
        if let room { members["room_name"] = .string(room) }
        return members
    }

    private static let invite: [String: JSONValue] = [
        "type": "m.room.member", "sender": "@ada:x", "membership": "invite", "user_is_target": true,
    ]

    static let cases = [
        Case("IMAGE_FROM_USER_IN_ROOM", ["Ada", "hi", "Lab"], message("m.image", room: "Lab")),
        Case("IMAGE_FROM_USER", ["Ada", "hi"], message("m.image")),
        Case("MSG_FROM_USER_IN_ROOM_WITH_CONTENT", ["Ada", "Lab", "hi"], message("m.text", room: "Lab")),
        Case("MSG_FROM_USER_IN_ROOM_WITH_CONTENT", ["Ada", "Lab", "hi"], message("org.example.new", room: "Lab")),
        Case("MSG_FROM_USER_WITH_CONTENT", ["Ada", "hi"], message("m.text")),
        Case("ACTION_FROM_USER_IN_ROOM", ["Lab", "Ada", "hi"], message("m.emote", room: "Lab")),
        Case("ACTION_FROM_USER", ["Ada", "hi"], message("m.emote")),
        Case("MSG_FROM_USER_IN_ROOM", ["Ada", "Lab"], message("m.text", nil, room: "Lab")),
        Case("MSG_FROM_USER", ["Ada"], message("m.text", nil)),
        Case("MSG_FROM_USER", ["Ada"], message("m.text", "")),
        Case("MSG_FROM_USER", ["@ada:x"], ["type": "m.room.encrypted", "sender": "@ada:x"]),
        Case("MSG_FROM_USER", [" "], ["type": "m.room.encrypted"]),
        Case("MSG_FROM_USER", ["@ada:x"], ["type": "org.example.poll", "sender": "@ada:x", "room_name": "Lab"]),
        Case(
            "VIDEO_CALL_FROM_USER",
            ["@ada:x"],
            ["type": "m.call.invite", "sender": "@ada:x", "content": ["offer": ["sdp": "v=0\r\nm=video 9\r\n"]]]
        ),
        Case(
            "VOICE_CALL_FROM_USER",
            ["@ada:x"],
            ["type": "m.call.invite", "sender": "@ada:x", "content": ["offer": ["sdp": "v=0\r\nm=audio 9\r\n"]]]
        ),
        Case(
            "VOICE_CALL_FROM_USER",
            ["@ada:x"],
            ["type": "m.call.invite", "sender": "@ada:x", "content": ["offer": 1]]
        ),
        Case("USER_INVITE_TO_CHAT", ["@ada:x"], invite),
        Case("USER_INVITE_TO_NAMED_ROOM", ["@ada:x", "Lab"], invite.merging(["room_name": "Lab"]) { $1 }),
        Case("USER_INVITE_TO_NAMED_ROOM", ["@ada:x", "#lab:x"], invite.merging(["room_alias": "#lab:x"]) { $1 }),
        Case(
            "USER_INVITE_TO_CHAT",
            ["@ada:x"],
            [
                "type": "m.room.member", "sender": "@ada:x", "content": ["membership": "invite"],
                "user_is_target": true,
            ]
        ),
    ]

    @Test(arguments: cases)
    func eachEventHasItsKey(event: Case) throws {
        let alert = MatrixAlert(try MatrixVectors.notification(MatrixVectors.body(event.members)))
        #expect(alert?.key == event.key)
        #expect(alert?.arguments == event.arguments)
        #expect(MatrixAlert.keys.contains(event.key))
    }

    @Test(
        arguments: [
            ["type": "m.room.member", "membership": "join", "user_is_target": true],
            ["type": "m.room.member", "membership": "invite"], [:],
        ] as [[String: JSONValue]]
    )
    func otherEventsAreNotShown(members: [String: JSONValue]) throws {
        #expect(MatrixAlert(try MatrixVectors.notification(MatrixVectors.body(members))) == nil)
    }

    @Test func longNamesAreCut() throws {
        let long = String(repeating: "ä", count: 2000)
        var members = Self.message("m.text", "hi", room: long)
        members["sender_display_name"] = .string(long)
        let alert = try #require(MatrixAlert(try MatrixVectors.notification(MatrixVectors.body(members))))
        #expect(alert.arguments.map(\.unicodeScalars.count) == [1024, 1024, 2])
        #expect(alert.variables["body"] == "hi")
    }
}
