import Foundation
import ProviderModel
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// Messages of FCM's clients, and the pushes that they become.
@Suite struct FCMMessageTests {
    private static let now = Vectors.issuedAt

    private static func message(_ members: JSONValue, _ more: [String: JSONValue] = [:]) throws -> FCMMessage {
        guard case .object(var message) = members else { throw FCMError.invalid("message", "") }
        if !["token", "fid", "topic", "condition"].contains(where: { message[$0] != nil }) {
            message["token"] = .string(Vectors.tokenA)
        }
        var body = more
        body["message"] = .object(message)
        return try FCMMessage(JSONValue.object(body).text)
    }

    private static func checked(_ members: JSONValue) throws -> NotificationContent {
        let app = try #require(Topic(Vectors.bundleID))
        return try self.message(members).push(to: app, now: self.now).content
    }

    private static func payload(_ members: JSONValue) throws -> JSONValue {
        try JSONValue(parsing: self.checked(members).payload)
    }

    /// Returns the error of a message.
    private static func error(_ members: JSONValue) -> FCMError? {
        do {
            _ = try self.checked(members)
            return nil
        } catch {
            return error as? FCMError
        }
    }

    @Test func theFirstVectorIsAnAlert() throws {
        let headers: JSONValue = [
            "apns-priority": "10", "apns-collapse-id": "o42", "apns-expiration": "1700003600", "x": "y",
        ]
        let content = try Self.checked([
            "notification": ["title": "Tea", "body": "It is ready"], "data": ["order": "42"],
            "apns": ["headers": headers],
        ])
        #expect(content.topic == Topic(Vectors.bundleID))
        #expect(content.pushType == .alert)
        #expect(content.priority == .immediate)
        #expect(content.collapseID == "o42")
        #expect(content.expiration == .at(seconds: 1_700_003_600))
        let alert: JSONValue = ["title": "Tea", "body": "It is ready"]
        #expect(try JSONValue(parsing: content.payload) == ["aps": ["alert": alert], "order": "42"])
    }

    @Test func bothSpellingsOfNamesAreRead() throws {
        let liveActivity: JSONValue = .object(["liveActivityToken": .string(Vectors.tokenC)])
        let message = try Self.message(["apns": liveActivity], ["validateOnly": true])
        #expect(message.isTest)
        #expect(message.target == .token(try #require(DeviceToken(hex: Vectors.tokenC))))
        #expect(try Self.message([:], ["validate_only": true]).isTest)
        #expect(ProtoFields.camelCase("live_activity_token") == "liveActivityToken")
    }

    @Test func theTargetIsOneOfFour() throws {
        #expect(
            try Self.message(["token": .string(Vectors.tokenA)]).target
                == .token(#require(DeviceToken(hex: Vectors.tokenA)))
        )
        #expect(try Self.message(["fid": "installation-1"]).target == .installation("installation-1"))
        #expect(try Self.message(["topic": "/topics/news"]).target == .topics(.tag("topic:news")))
        #expect(try Self.message(["condition": "'a' in topics"]).target == .topics(.tag("topic:a")))
    }

    @Test(
        arguments: [
            (["token": .string(Vectors.tokenA), "topic": "news"], "message"), (["topic": "a b"], "message.topic"),
            (["condition": "a"], "message.condition"), (["token": "zz"], "message.token"),
            (["token": 1], "message.token"),
            (["data": ["n": 12]], "message.data[0].value"), (["data": ["a": "1", "b": true]], "message.data[1].value"),
            (["data": ["from": "x"]], "message.data[0].key"), (["data": ["google.x": "x"]], "message.data[0].key"),
            (["apns": ["headers": ["apns-priority": 10]]], "message.apns.headers[0].value"),
            (
                ["apns": ["headers": ["apns-priority": "7"]], "notification": ["body": "b"]],
                "message.apns.headers[apns-priority]"
            ),
            (["apns": ["headers": ["apns-topic": "org.other"]]], "message.apns.headers[apns-topic]"),
            (["apns": ["headers": ["apns-push-type": "none"]]], "message.apns.headers[apns-push-type]"),
            (["apns": ["payload": ["aps": 1]]], "message.apns.payload.aps"), (["apns": []], "message.apns"),
            (["apns": ["payload": ["aps": ["badge": "1"]]]], "message.apns.payload.aps.badge"),
            ([:], "message.apns.payload.aps"),
        ] as [(JSONValue, String)]
    )
    func anErrorNamesItsField(message: JSONValue, field: String) {
        let error = Self.error(message)
        #expect(error?.status == 400 && error?.name == "INVALID_ARGUMENT")
        #expect(error?.violations.map(\.field) == [field])
    }

    @Test func aTokenOfFCMIsOfNoDevice() {
        let error = Self.error(["token": "fGk:APA91bHun4MxP5egoKMwt2KZFBaFUH-1RYqx"])
        #expect(error?.status == 404 && error?.code == .unregistered)
    }

    @Test(arguments: ["", "nonsense", "[]", "{}", #"{"message":1}"#, #"{"message":{}}"#, #"{"message":{"token":""}}"#])
    func otherBodiesAreRefused(text: String) {
        #expect(throws: FCMError.self) { try FCMMessage(Data(text.utf8)) }
    }

    @Test func aLargePayloadIsRefusedWithItsCode() {
        let error = Self.error(["notification": ["body": .string(String(repeating: "x", count: 5000))]])
        #expect(error?.code == .invalidArgument && error?.status == 400)
    }

    @Test func dataAloneWakesTheApp() throws {
        let content = try Self.checked(["data": ["a": "1"], "apns": ["headers": ["apns-priority": "10"]]])
        #expect(content.pushType == .background && content.priority == .powerAware)
        #expect(try JSONValue(parsing: content.payload) == ["aps": ["content-available": 1], "a": "1"])
    }

    @Test func whatIsForTheServiceComesBeforeWhatIsForAll() throws {
        let payload: JSONValue = [
            "aps": ["alert": "own", "mutable-content": true, "content-available": false], "k": 1,
        ]
        #expect(
            try Self.payload([
                "notification": ["title": "t"], "data": ["k": "2", "l": "3"], "apns": ["payload": payload],
                "android": ["ttl": "1s"], "webpush": [:],
            ]) == ["aps": ["alert": "own", "mutable-content": 1], "k": 1, "l": "3"]
        )
    }

    @Test func theTypeFollowsHeadersTopicAndContent() throws {
        let voip: JSONValue = ["headers": ["APNs-Topic": .string("\(Vectors.bundleID).voip")], "payload": ["k": "v"]]
        #expect(try Self.checked(["apns": voip]).pushType == .voip)
        let update: JSONValue = [
            "payload": ["aps": ["event": "update", "timestamp": 1_700_000_000, "content-state": ["s": 1]]]
        ]
        #expect(try Self.checked(["apns": update]).pushType == .liveactivity)
        #expect(try Self.checked(["apns": ["payload": ["aps": ["badge": 0]]]]).pushType == .alert)
    }
}

/// The errors in FCM's form.
@Suite struct FCMErrorTests {
    @Test func aDeadTokenHasBothDetails() {
        let details: JSONValue = [
            ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "UNREGISTERED"],
            [
                "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError", "statusCode": 410,
                "reason": "Unregistered",
            ],
        ]
        let message = "The device is no longer registered."
        let error: JSONValue = ["code": 404, "message": .string(message), "status": "NOT_FOUND", "details": details]
        #expect(FCMError.unregistered.json == ["error": error])
    }

    @Test(
        arguments: [
            (.rejected("Unregistered"), 404, .unregistered), (.rejected("ExpiredToken"), 404, .unregistered),
            (.rejected("DeviceTokenNotForTopic"), 403, .senderIDMismatch),
            (.rejected("BadDeviceToken"), 400, .invalidArgument),
            (.rejected("PayloadTooLarge"), 400, .invalidArgument), (.rejected("TooManyRequests"), 429, .quotaExceeded),
            (.rejected("InvalidProviderToken"), 401, .thirdPartyAuthError), (.rejected("?"), 400, .invalidArgument),
            (.unconfirmed("Unregistered"), 503, .unavailable),
            (.failed("8 tries failed; the last: x"), 503, .unavailable),
            (.failed("8 tries failed; the last: TooManyRequests"), 429, .quotaExceeded),
        ] as [(TokenOutcome, Int, FCMError.Code)]
    )
    func anOutcomeHasItsCode(verdict: TokenOutcome, status: Int, code: FCMError.Code) throws {
        let error = try #require(FCMError(verdict))
        #expect(error.status == status && error.code == code)
    }

    @Test func whatIsInTheLedgerIsNoError() {
        for verdict in [.accepted(apnsID: "x"), .pending(apnsID: "x"), .skipped(apnsID: "x")] as [TokenOutcome] {
            #expect(FCMError(verdict) == nil)
        }
    }

    @Test(
        arguments: [
            (.unauthenticated, 401, "UNAUTHENTICATED", nil), (.forbidden, 403, "PERMISSION_DENIED", nil),
            (.rateLimited, 429, "RESOURCE_EXHAUSTED", .quotaExceeded), (.unavailable, 503, "UNAVAILABLE", .unavailable),
            (.internalError, 500, "INTERNAL", .internalError), (.tooLarge, 400, "INVALID_ARGUMENT", .invalidArgument),
        ] as [(RequestError.Kind, Int, String, FCMError.Code?)]
    )
    func anErrorOfTheProviderHasItsStatus(kind: RequestError.Kind, status: Int, name: String, code: FCMError.Code?) {
        let error = FCMError(RequestError(kind, code: "c", message: "m"))
        #expect(error.status == status && error.name == name && error.code == code)
    }
}
