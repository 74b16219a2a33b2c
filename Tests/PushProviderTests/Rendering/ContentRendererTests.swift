import Foundation
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel
@testable import PushProvider

@Suite struct ContentRendererTests {
    @Test func valuesComeFromTheDevice() throws {
        let body =
            #"{"alert":{"title":"{{user}} {{ name }}","body":"{{n}} {{yes}} {{locale}} {{timeZone}} {{appVersion}}"},"#
            + #""data":{"deep":[{"a":"<{{name}}>"}],"{{name}}":1},"template":true}"#
        let profile = RecipientProfile(
            user: "u1",
            locale: "de_DE",
            timeZone: "Europe/Berlin",
            appVersion: "1.2",
            attributes: Data(#"{"x":{"name":"no"}, "name" : "Zoë" ,"n":-1.5e3,"yes":true}"#.utf8)
        )
        #expect(
            try Content.render(body, for: profile)
                == #"{"aps":{"alert":{"body":"-1.5e3 true de_DE Europe/Berlin 1.2","title":"u1 Zoë"}},"#
                + #""deep":[{"a":"<Zoë>"}],"{{name}}":1}"#
        )
    }

    @Test(
        arguments: [
            (#"{"a":"v"}"#, "v"), (#"{"a":""}"#, "d"), (#"{"a":null}"#, "d"), (#"{"a":{"a":1}}"#, "d"), (#"{}"#, "d"),
            (#"{"a":[1,"}"]}"#, "d"), (#"{"A":"v"}"#, "d"), (#"{"a":"v","a":"w"}"#, "v"), (#" { "a" : 0 } "#, "0"),
            (#"{"\u0061":"v"}"#, "v"), (#"{"b":"\"a\":\"w\"","a":"v"}"#, "v"), (#"{"a":false}"#, "false"),
        ]
    )
    func aDefaultReplacesMissingAndEmptyValues(attributes: String, value: String) throws {
        let text = try Content.render(
            #"{"alert":"{{a|d}}","template":true}"#,
            for: RecipientProfile(attributes: attributes)
        )
        #expect(text == #"{"aps":{"alert":"\#(value)"}}"#)
    }

    @Test func withoutDefaultAMissingValueFailsAndAnEmptyOneIsEmpty() throws {
        let body = #"{"alert":"<{{a}}>","template":true}"#
        #expect(throws: RenderFailure.missingValue("a")) { try Content.render(body) }
        #expect(throws: RenderFailure.missingValue("a")) {
            try Content.render(body, for: RecipientProfile(attributes: #"{"b":1}"#))
        }
        #expect(try Content.render(body, for: RecipientProfile(attributes: #"{"a":""}"#)) == #"{"aps":{"alert":"<>"}}"#)
        #expect(RenderFailure.missingValue("a").description.contains("{{a}}"))
    }

    @Test func aDeviceDoesNotSeeTheValuesOfTheOneBefore() throws {
        var renderer = try Content.renderer(try Content.parse(#"{"alert":"{{a|d}}","template":true}"#))
        _ = try renderer.render(for: RecipientProfile(attributes: #"{"a":"secret"}"#), badge: nil)
        for profile in [
            RecipientProfile(), RecipientProfile(attributes: "{}"), RecipientProfile(attributes: #"{"b":1}"#),
        ] {
            #expect(
                String(decoding: try renderer.render(for: profile, badge: nil), as: UTF8.self)
                    == #"{"aps":{"alert":"d"}}"#
            )
        }
    }

    @Test(
        arguments: [
            #""}},"x":{""#, #"\"}},\"x\":{\""#, "\\", "\\\"", "\u{0}\u{1f}\u{7f}", "a\nb\tc\r", "\u{2028}\u{2029}",
            "{{a}}", "}}", "é👩‍👩‍👧‍👦\u{202e}", "</script>", "\u{fffd}", #"\u0022"#,
        ]
    )
    func aValueCannotLeaveItsString(value: String) throws {
        let attributes = try JSONValue.object(["a": .string(value)]).text
        let body = #"{"alert":"<{{a}}>","sound":"{{user}}","data":{"fallback":"{{none|\"},\"}}"},"template":true}"#
        let text = try Content.render(body, for: RecipientProfile(user: value, attributes: attributes))
        let wanted: [String: JSONValue] = [
            "aps": .object(["alert": .string("<\(value)>"), "sound": .string(value)]), "fallback": .string(#""},""#),
        ]
        #expect(try JSONValue(parsing: Data(text.utf8)) == .object(wanted))
    }

    @Test(
        arguments: [
            (#""\ud83d\ude00""#, "😀"), (#""\ud83d""#, "\u{fffd}"), (#""\ude00x""#, "\u{fffd}x"),
            (#""\ud83dx""#, "\u{fffd}x"), (#""\ud83d\ud83d""#, "\u{fffd}\u{fffd}"), (#""\u12""#, "\u{fffd}12"),
            (#""\q""#, "q"), (#""\/\b\f\n\r\t""#, "/\u{8}\u{c}\n\r\t"), (#""\u00e9""#, "é"), (#""\u0000""#, "\u{0}"),
        ]
    )
    func escapesInStoredAttributesAreUnderstood(stored: String, value: String) throws {
        let text = try Content.render(
            #"{"alert":"{{a}}","template":true}"#,
            for: RecipientProfile(attributes: #"{"a":\#(stored)}"#)
        )
        #expect(try JSONValue(parsing: Data(text.utf8)) == .object(["aps": .object(["alert": .string(value)])]))
    }

    @Test(
        arguments: [
            "[]", "x", "{", #"{"a""#, #"{"a":"#, #"{"a":"b"#, #"{"a":"b\"#, #"{"b":1 "c":2}"#, #"{"b":1,"#,
            #"{"b":[1}"#,
            #"{"b":]}"#, "{b:1}", " ", #"{"b":{"#, #"{"b":1"#,
        ]
    )
    func damagedAttributesAreAFailure(attributes: String) {
        #expect(throws: RenderFailure.damagedAttributes) {
            try Content.render(#"{"alert":"{{a|d}}","template":true}"#, for: RecipientProfile(attributes: attributes))
        }
    }

    @Test func anyBytesAsAttributesGiveJSONOrAFailure() throws {
        var generator = SeededGenerator(seed: 7)
        var renderer = try Content.renderer(
            try Content.parse(#"{"alert":"{{a|d}}{{b|}}{{ä|}}","data":{"x":"{{c|}}"},"template":true}"#)
        )
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "\\", "\\u", "d83d", "\"a\":", "\"b\"", "1", "null", "\u{0}", " ", "ä",
        ]
        for _ in 0..<5000 {
            var bytes = Data("{".utf8)
            for _ in 0..<Int.random(in: 0..<16, using: &generator) {
                if Bool.random(using: &generator) {
                    bytes += (pieces.randomElement(using: &generator) ?? "").utf8
                } else {
                    bytes.append(UInt8.random(in: 0...255, using: &generator))
                }
            }
            guard let output = try? renderer.render(for: RecipientProfile(attributes: bytes), badge: nil) else {
                continue
            }
            let value = try? JSONValue(parsing: Data(output))
            guard case .object(let members)? = value else {
                Issue.record("no JSON from \(Array(bytes))")
                continue
            }
            #expect(members.count == 2)
        }
    }

    @Test func aLongValueIsCutBetweenCharacters() throws {
        let family = "👩‍👩‍👧‍👦"
        let long = String(repeating: family, count: 200)
        let attributes = try JSONValue.object(["a": .string(long), "b": .string(String(repeating: "x", count: 5000))])
            .text
        let text = try Content.render(
            #"{"alert":"{{a}}","data":{"b":"{{b}}"},"template":true}"#,
            for: RecipientProfile(attributes: attributes)
        )
        let fit = String(repeating: family, count: ContentRenderer.maximumValue / family.utf8.count)
        #expect(text == #"{"aps":{"alert":"\#(fit)"},"b":"\#(String(repeating: "x", count: 1024))"}"#)
    }

    @Test func aPayloadThatGrowsTooLargeIsAFailure() {
        let profile = RecipientProfile(user: String(repeating: "x", count: 1000))
        #expect(throws: RenderFailure.tooLarge(size: 5020, limit: 4096)) {
            try Content.render(#"{"alert":"{{user}}{{user}}{{user}}{{user}}{{user}}","template":true}"#, for: profile)
        }
    }

    @Test func theBadgeIsTheUsersCount() throws {
        let body = #"{"alert":"x","badge":{"increment":2},"data":{"a":1}}"#
        #expect(
            try Content.render(body, for: RecipientProfile(), badge: 7) == #"{"aps":{"badge":7,"alert":"x"},"a":1}"#
        )
        #expect(try Content.render(body) == #"{"aps":{"alert":"x"},"a":1}"#)
        #expect(try Content.render(#"{"badge":"-1"}"#, for: RecipientProfile(), badge: 0) == #"{"aps":{"badge":0}}"#)
        #expect(throws: RenderFailure.missingBadge) { try Content.render(#"{"badge":"+1"}"#) }
    }

    @Test func aCountStaysWithinItsRange() {
        #expect(BadgeChange(increment: 2)?.applied(to: 5) == 7)
        #expect(BadgeChange(increment: -9)?.applied(to: 5) == 0)
        #expect(BadgeChange(increment: 5)?.applied(to: Int.max) == BadgeChange.maximumCount)
        #expect(BadgeChange(increment: -5)?.applied(to: Int.min) == 0)
        #expect(BadgeChange(increment: 1001) == nil)
    }

    @Test func theRendererNamesTheProfilesParts() throws {
        let needs = { (body: String) in try Content.renderer(try Content.parse(body)).needs }
        #expect(try needs(#"{"alert":"x"}"#) == [])
        #expect(try needs(#"{"alert":"x","localizations":{"de":{"alert":"y"}}}"#) == .locale)
        let template = #"{"alert":"{{locale}}{{timeZone}}{{a}}","template":true}"#
        #expect(try needs(template) == [.attributes, .locale, .timeZone])
        #expect(try needs(#"{"alert":"{{user}}{{appVersion}}","template":true}"#) == [.user, .appVersion])
        #expect(try needs(#"{"alert":"x","badge":"+1"}"#) == .user, "a badge is counted for the user")
    }

    @Test func contentWithoutVariablesIsFixed() throws {
        var renderer = try Content.renderer(try Content.parse(#"{"alert":"x"}"#))
        #expect(renderer.fixed == Data(#"{"aps":{"alert":"x"}}"#.utf8))
        #expect(try renderer.render(for: RecipientProfile(), badge: nil) == Array(#"{"aps":{"alert":"x"}}"#.utf8))
    }

    @Test(
        arguments: [
            "", "{}", "[]", #"{"version":2,"payload":{}}"#, #"{"version":1}"#, #"{"version":1,"payload":[]}"#,
            #"{"version":1,"payload":{},"localizations":[]}"#, #"{"version":1,"payload":{},"localizations":{"de":1}}"#,
            #"{"version":1,"payload":{},"badge":1}"#, #"{"version":1,"payload":{},"badge":{"increment":9999999}}"#,
            #"{"version":1,"payload":{},"badge":{"increment":1}}"#,
            #"{"version":1,"payload":{"a":"{{"},"variables":true}"#,
        ]
    )
    func damagedContentIsReported(payload: String) {
        #expect(throws: RenderFailure.damagedContent) {
            var content = try Content.parse(#"{"alert":"x"}"#).content
            (content.payload, content.isTemplate) = (Data(payload.utf8), true)
            _ = try ContentRenderer(content)
        }
    }

    @Test func thePreviewEqualsThePayload() throws {
        let body =
            #"{"alert":"Hi {{name|you}}{{other}}","localizations":{"de":{"alert":"Hallo {{name}}"}},"template":true}"#
        let content = try Content.parse(body)
        let plain = try ContentPreview(content.content, bundleID: content.content.topic, for: nil)
        #expect(String(decoding: plain.payload, as: UTF8.self) == #"{"aps":{"alert":"Hi you"}}"#)
        #expect(plain.locale == nil)
        var profile = RecipientProfile(attributes: #"{"name":"Eva"}"#)
        profile.locale = "de_AT"
        let german = try ContentPreview(content.content, bundleID: content.content.topic, for: profile)
        #expect(String(decoding: german.payload, as: UTF8.self) == #"{"aps":{"alert":"Hallo Eva"}}"#)
        #expect(german.locale == "de")
        #expect(throws: RenderFailure.missingValue("other")) {
            try ContentPreview(
                content.content,
                bundleID: content.content.topic,
                for: RecipientProfile(attributes: "{}")
            )
        }
    }

    @Test(
        arguments: [
            #"{"alert":"Hi {{name|you}} \"{{city}}\" {{{{","template":true}"#,
            #"{"alert":"Hi","badge":"+1","data":{"a":"{{user|\u00e9\n}}","{{b}}":["{{c}}",1.5]},"template":true}"#,
            #"{"badge":"+1"}"#, #"{"alert":"{{a}}","template":true,"receipts":"device"}"#,
            #"{"alert":"x","localizations":{"de":{"alert":"{{name|Sie}}"},"pt_BR":{"sound":"s"}},"template":true}"#,
        ]
    )
    func aRequestIsMeasuredAsItIsRendered(body: String) throws {
        let content = try Content.parse(body).content
        let marker = PayloadMarker(content, notification: PayloadMarker.sampleID)
        let measured = try PayloadTemplate(stored: content.payload).minimumLengths()
        let rendered = try ContentRenderer(content).samples()
        #expect(measured.map(\.locale) == rendered.map(\.locale))
        #expect(measured.map { marker?.length(ofMarked: $0.length) ?? $0.length } == rendered.map(\.payload.count))
    }
}
