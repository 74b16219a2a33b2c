import Foundation
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct NotificationRequestTests {
    @Test(
        arguments: [
            (#"{"alert":"x"}"#, "missing_field", "to"),
            (#"{"to":{},"alert":"x"}"#, "missing_field", "to"),
            (#"{"to":{"all":false},"alert":"x"}"#, "invalid_value", "to.all"),
            (#"{"to":{"all":false},"alert":"x"}"#, "invalid_value", "to.all"),
            (#"{"to":{"everyone":true},"alert":"x"}"#, "unknown_field", "to.everyone"),
            (#"{"to":{"tokens":[]},"alert":"x"}"#, "invalid_value", "to.tokens"),
            (#"{"to":{"tokens":["\#(Vectors.tokenA)","zz!"]},"alert":"x"}"#, "invalid_token", "to.tokens[1]"),
            (#"{"to":{"tokens":["\#(Vectors.tokenA)","aa"]},"alert":"x"}"#, "invalid_token", "to.tokens[1]"),
            (#"{"to":{"tokens":"aa"},"alert":"x"}"#, "wrong_type", "to.tokens"),
            (#"{"to":{"tokens":["\#(Vectors.tokenA)"],"user":null},"alert":"x"}"#, "invalid_value", "to.user"),
            (#"{"to":{"tokens":null,"user":"alice"},"alert":"x"}"#, "invalid_value", "to.tokens"),
            (#"{"to":{"user":5},"alert":"x"}"#, "wrong_type", "to.user"),
            (#"{"to":{"all":true},"alrt":"x"}"#, "unknown_field", "alrt"),
            (#"{"to":{"all":true}}"#, "missing_content", "alert"),
            (#"{"to":{"all":true},"alert":{}}"#, "missing_content", "alert"),
            (#"{"to":{"all":true},"alert":{"titel":"x"}}"#, "unknown_field", "alert.titel"),
            (#"{"to":{"all":true},"alert":5}"#, "wrong_type", "alert"),
            (#"{"to":{"all":true},"alert":"x","badge":-1}"#, "invalid_value", "badge"),
            (#"{"to":{"all":true},"alert":"x","badge":true}"#, "wrong_type", "badge"),
            (#"{"to":{"all":true},"alert":"x","badge":1.5}"#, "wrong_type", "badge"),
            (#"{"to":{"all":true},"alert":"x","data":{"aps":{}}}"#, "reserved_field", "data.aps"),
            (#"{"to":{"all":true},"data":{"a":1}}"#, "not_visible", "alert"),
            (#"{"to":{"all":true},"alert":"x","payload":{}}"#, "conflicting_field", "alert"),
            (#"{"to":{"all":true},"payload":{"aps":5}}"#, "wrong_type", "payload.aps"),
            (#"{"to":{"all":true},"payload":[]}"#, "wrong_type", "payload"),
            (#"{"to":{"all":true},"alert":"x","pushType":"alarm"}"#, "invalid_push_type", "pushType"),
            (#"{"to":{"all":true},"alert":"x","pushType":"background"}"#, "not_background", "alert"),
            (
                #"{"to":{"all":true},"data":{"a":1},"pushType":"background","priority":10}"#, "invalid_priority",
                "priority"
            ),
            (#"{"to":{"all":true},"alert":"x","priority":7}"#, "invalid_priority", "priority"),
            (#"{"to":{"all":true},"alert":"x","expiration":3600}"#, "invalid_expiration", "expiration"),
            (#"{"to":{"all":true},"alert":"x","expiration":-1}"#, "invalid_expiration", "expiration"),
            (#"{"to":{"all":true},"alert":"x","environment":"mars"}"#, "invalid_environment", "environment"),
            (#"[]"#, "invalid_json", nil), (#"{"#, "invalid_json", nil), ("", "invalid_json", nil),
        ] as [(String, String, String?)]
    )
    func aFaultNamesItsMember(body: String, code: String, field: String?) {
        let refusal = Self.error(body)
        #expect(refusal?.kind == .invalid)
        #expect(refusal?.code == code)
        #expect(refusal?.path == field)
    }

    @Test func aLiveActivityIsOfNowUnlessItIsSentLater() throws {
        let update = #"{"to":{"all":true},"liveActivity":{"event":"update","contentState":{}}"#
        let payload = String(decoding: try Self.parse(update + "}").content.payload, as: UTF8.self)
        #expect(payload.contains(#""timestamp":\#(Vectors.issuedAt.seconds)"#))
        let later = Self.error(update + #","when":{"at":"2023-11-15T00:00:00Z"}}"#)
        #expect(later?.path == "liveActivity.timestamp")
    }

    @Test func aCollapseIDIsCountedInBytes() throws {
        let id = String(repeating: "é", count: 32)
        #expect(try Self.parse(#"{"to":{"all":true},"alert":"x","collapseId":"\#(id)"}"#).content.collapseID == id)
        #expect(Self.error(#"{"to":{"all":true},"alert":"x","collapseId":"\#(id)é"}"#)?.path == "collapseId")
    }

    @Test(arguments: ["a\nb", "\u{1}", "a\u{7f}", " a", "a ", " "])
    func aCollapseIDIsAHeader(id: String) throws {
        let request = JSONValue.object(["to": ["all": true], "alert": "x", "collapseId": .string(id)])
        let body = String(decoding: try request.text, as: UTF8.self)
        #expect(Self.error(body)?.path == "collapseId")
        #expect(Self.error(body)?.code == "invalid_value")
    }

    @Test(arguments: [(4076, "alert", true), (4077, "alert", false), (5100, "voip", true), (5101, "voip", false)])
    func thePayloadLimitIsThatOfThePushType(length: Int, type: String, fits: Bool) {
        let text = String(repeating: "a", count: length)
        let refusal = Self.error(#"{"to":{"all":true},"alert":"\#(text)","pushType":"\#(type)"}"#)
        #expect((refusal == nil) == fits)
        if !fits { #expect(refusal?.code == "payload_too_large") }
    }

    @Test func aSimpleRequestMakesTheSimplestPayload() throws {
        let request = try Self.parse(#"{"to":{"all":true},"alert":"Hi"}"#)
        #expect(String(decoding: request.content.payload, as: UTF8.self) == Vectors.payload)
        #expect(request.content.topic.name == Vectors.bundleID)
        #expect(request.content.priority == .immediate)
        #expect(request.audience == .devices(.everyone))
    }

    @Test func aBackgroundPushNeedsOnlyItsData() throws {
        let request = try Self.parse(#"{"to":{"all":true},"data":{"id":7},"pushType":"background"}"#)
        #expect(String(decoding: request.content.payload, as: UTF8.self) == #"{"aps":{"content-available":1},"id":7}"#)
        #expect(request.content.priority == .powerAware)
    }

    @Test func thePushTypeMakesTheTopic() throws {
        let request = try Self.parse(#"{"to":{"all":true},"payload":{"call":1},"pushType":"voip"}"#)
        #expect(request.content.topic.name == "com.example.MyApp.voip")
    }

    @Test func aRawPayloadKeepsItsValues() throws {
        let payload = #"{"a":[1,2.5,null,true,"é/"],"aps":{"alert":"x"},"big":9007199254740993}"#
        let request = try Self.parse(#"{"to":{"all":true},"payload":\#(payload)}"#)
        #expect(String(decoding: request.content.payload, as: UTF8.self) == payload)
    }

    @Test func aTokenNamedTwiceIsSentToOnce() throws {
        let bytes = [UInt8](repeating: 0xaa, count: 32)
        let (hex, base64) = (String(repeating: "aa", count: 32), Data(bytes).base64EncodedString())
        let request = try Self.parse(#"{"to":{"tokens":["\#(hex.uppercased())","\#(hex)","\#(base64)"]},"alert":"x"}"#)
        #expect(request.audience == .tokens([try #require(DeviceToken(bytes: bytes))]))
    }

    @Test(arguments: [
        (#"{}"#, "missing_field", "token"), (#"{"token":"zz!"}"#, "invalid_token", "token"),
        (#"{"token":"\#(Vectors.tokenA)","environment":"x"}"#, "invalid_environment", "environment"),
        (#"{"token":"\#(Vectors.tokenA)","timeZone":"Mars/Olympus"}"#, "invalid_time_zone", "timeZone"),
        (#"{"token":"\#(Vectors.tokenA)","tags":[""]}"#, "invalid_value", "tags[0]"),
        (#"{"token":"aa","tag":["x"]}"#, "unknown_field", "tag"),
        (#"{"token":"abcd"}"#, "invalid_token", "token"),
        (#"{"token":"\#(String(repeating: "ab", count: 31))"}"#, "invalid_token", "token"),
        (#"{"token":"\#(String(repeating: "ab", count: 513))"}"#, "invalid_token", "token"),
        (#"{"token":"\#(Vectors.tokenA)","locale":"not a locale"}"#, "invalid_locale", "locale"),
        (#"{"token":"\#(Vectors.tokenA)","locale":"d"}"#, "invalid_locale", "locale"),
        (#"{"token":"\#(Vectors.tokenA)","locale":"de-"}"#, "invalid_locale", "locale"),
        (#"{"token":"\#(Vectors.tokenA)","locale":"de.UTF 8"}"#, "invalid_locale", "locale"),
        (#"{"token":"\#(Vectors.tokenA)","locale":"de-überlang"}"#, "invalid_locale", "locale"),
        (#"{"token":"\#(Vectors.tokenA)","timeZone":"CET\u0000"}"#, "invalid_value", "timeZone"),
        (#"{"token":"\#(Vectors.tokenA)","user":"alice\u0000bob"}"#, "invalid_value", "user"),
        (#"{"token":"\#(Vectors.tokenA)","tags":["a","b\u0000"]}"#, "invalid_value", "tags[1]"),
    ])
    func aRegistrationsFaultNamesItsMember(body: String, code: String, field: String) {
        #expect {
            try DeviceRequest.parse(Data(body.utf8))
        } throws: { error in
            let refusal = error as? RequestError
            return refusal?.code == code && refusal?.path == field
        }
    }

    @Test(arguments: ["de", "pt-BR", "zh-Hant-TW", "de_DE.UTF-8@euro", "en_US@calendar=gregorian;currency=EUR", "yue"])
    func aLocaleHasTheFormOfATag(locale: String) throws {
        let body = #"{"token":"\#(Vectors.tokenA)","locale":"\#(locale)"}"#
        #expect(try DeviceRequest.parse(Data(body.utf8)).locale == .set(LocaleTag.stored(locale)))
    }

    @Test func aRegistrationIsReadWithAllMembers() throws {
        let body =
            #"{"token":"MCvTjMFq32yTg+iEi5HYla/MsqWl0dUkNfFMRwqnF2c=","environment":"development","user":"alice","#
            + #""locale":"de_DE","timeZone":"Europe/Berlin","tags":["a","b"]}"#
        let registration = try DeviceRequest.parse(Data(body.utf8))
        #expect(registration.token.hex == Vectors.tokenA)
        #expect(registration.environment == .sandbox)
        #expect(registration.tags == ["a", "b"])
    }

    @Test func anyJSONIsReadOrRejected() {
        var generator = SystemRandomNumberGenerator()
        let pieces = ["{", "}", "[", "]", "\"to\"", ":", ",", "null", "1e999", "-", "\"\\u0000\"", "true", "\u{fffd}"]
        for _ in 0..<500 {
            let text = (0..<12).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            _ = Self.error(text)
        }
        _ = Self.error(String(repeating: "[", count: 100_000))
    }

    private static func parse(_ body: String) throws -> NotificationRequest {
        let bundleID = try #require(Topic(Vectors.bundleID))
        return try NotificationRequest(parsing: Data(body.utf8), bundleID: bundleID, now: Vectors.issuedAt)
    }

    private static func error(_ body: String) -> RequestError? {
        do {
            _ = try Self.parse(body)
            return nil
        } catch {
            return error as? RequestError
        }
    }
}
