import Foundation
import PushStore
import PushSupport
import PushTesting
import Testing

@testable import PushProvider

@Suite struct LocalizationBuilderTests {
    @Test(
        arguments: [
            ("de", "de"), ("de-AT", "de"), ("DE_at.UTF-8@euro", "de"), ("de-DE", "de-de"), ("de_DE", "de-de"),
            ("de-Latn-DE-u-co-phonebk", "de-de"), ("pt-PT", nil), ("pt-BR", "pt-br"), ("zh-Hant-TW", "zh-hant"),
            ("zh_TW", "zh-hant"), ("zh-CN", "zh"), ("zh-Hans-CN", "zh"), ("zh", "zh"), ("iw_IL", "he"), ("no", "nb"),
            ("en", nil), ("C", nil), ("", nil), ("-", nil), ("de-", nil), ("d", nil), ("🙂", nil), ("de\u{0}", nil),
        ] as [(String, String?)]
    )
    func theBestVariantIsChosen(locale: String, variant: String?) throws {
        let locales = ["de", "de_DE", "pt-BR", "zh-Hant", "zh", "he", "nb"]
        let variants = locales.map { #""\#($0)":{"alert":"\#($0)"}"# }.joined(separator: ",")
        var renderer = try Content.renderer(try Content.parse(#"{"alert":"x","localizations":{\#(variants)}}"#))
        for _ in 0..<2 {
            let chosen = renderer.variant(for: locale)
            #expect(chosen == variant)
        }
        let none = renderer.variant(for: nil)
        #expect(none == nil)
    }

    @Test func anyNumberOfLocalesIsChosenFor() throws {
        var renderer = try Content.renderer(try Content.parse(#"{"alert":"x","localizations":{"de":{"alert":"y"}}}"#))
        for index in 0..<2000 {
            let chosen = [renderer.variant(for: "de-x\(index)"), renderer.variant(for: "fr-x\(index)")]
            #expect(chosen == ["de", nil])
        }
        let long = renderer.variant(for: "de-" + String(repeating: "a", count: 100_000))
        #expect(long == nil)
    }

    @Test(
        arguments: [
            (#"{"alert":"y"}"#, #"{"alert":"y","sound":"s"}"#),
            (#"{"title":"t"}"#, #"{"alert":{"body":"B","subtitle":"S","title":"t"},"sound":"s"}"#),
            (#"{"alert":{"title":"t","subtitle":null}}"#, #"{"alert":{"body":"B","title":"t"},"sound":"s"}"#),
            (#"{"subtitle":null}"#, #"{"alert":{"body":"B","title-loc-args":["1"],"title-loc-key":"K"},"sound":"s"}"#),
            (
                #"{"alert":{"locKey":"L"},"sound":"z"}"#,
                #"{"alert":{"loc-key":"L","subtitle":"S","title-loc-args":["1"],"title-loc-key":"K"},"sound":"z"}"#
            ),
        ]
    )
    func aLocalisationIsLaidOverTheDefault(localization: String, aps: String) throws {
        let body =
            #"{"alert":{"titleLocKey":"K","titleLocArgs":["1"],"subtitle":"S","body":"B"},"sound":"s","#
            + #""data":{"a":1,"b":2},"localizations":{"de":\#(localization)}}"#
        let german = try Content.render(body, for: RecipientProfile(locale: "de"))
        #expect(german == #"{"a":1,"aps":\#(aps),"b":2}"#)
    }

    @Test func dataIsLaidOverTheDefaultData() throws {
        let body = #"{"alert":"x","data":{"a":1,"b":2},"localizations":{"de":{"body":"y","data":{"a":null,"c":3}}}}"#
        #expect(
            try Content.render(body, for: RecipientProfile(locale: "de"))
                == #"{"aps":{"alert":{"body":"y"}},"b":2,"c":3}"#
        )
    }

    @Test func aRawPayloadHasRawLocalisations() throws {
        let body =
            #"{"payload":{"aps":{"alert":"x"},"a":1},"localizations":{"de":{"payload":{"aps":{"alert":"{{n|y}}"}}}},"template":true}"#
        #expect(try Content.render(body, for: RecipientProfile(locale: "de")) == #"{"aps":{"alert":"y"}}"#)
        #expect(try Content.render(body) == #"{"a":1,"aps":{"alert":"x"}}"#)
    }

    @Test func aLiveActivitysSoundStaysInTheAlert() throws {
        let body =
            #"{"liveActivity":{"event":"update","timestamp":1700000000,"contentState":{}},"alert":{"body":"x"},"#
            + #""localizations":{"de":{"body":"y","sound":"s"}}}"#
        let german = try Content.render(body, for: RecipientProfile(locale: "de"))
        #expect(german.hasPrefix(#"{"aps":{"alert":{"body":"y","sound":"s"},"content-state""#))
    }

    @Test(
        arguments: [
            (#"{"german!":{"alert":"y"}}"#, "invalid_locale", "localizations.german!"),
            (#"{"de_DE":{"alert":"y"},"de-de":{"alert":"y"}}"#, "repeated_locale", "localizations.de_DE"),
            (#"{"de":"y"}"#, "wrong_type", "localizations.de"),
            (#"{"de":{"alrt":"y"}}"#, "unknown_field", "localizations.de.alrt"),
            (#"{"de":{"alert":{"titel":"y"}}}"#, "unknown_field", "localizations.de.alert.titel"),
            (#"{"de":{"alert":"y","title":"z"}}"#, "conflicting_field", "localizations.de.alert"),
            (#"{"de":{"payload":{}}}"#, "unknown_field", "localizations.de.payload"),
            (#"{"de":{"data":{"aps":{}}}}"#, "reserved_field", "localizations.de.data.aps"),
            (#"{"de":{"sound":{"name":"s","volume":2}}}"#, "invalid_value", "localizations.de.sound.volume"),
        ]
    )
    func aFaultNamesItsMember(localizations: String, code: String, field: String) {
        let refusal = Content.error(#"{"alert":"x","localizations":\#(localizations)}"#)
        #expect(refusal?.code == code)
        #expect(refusal?.path == field)
    }

    @Test func aLocalisationIsLintedToo() {
        let background = #"{"pushType":"background","data":{"a":1},"localizations":{"de":{"alert":"y"}}}"#
        #expect(Content.error(background)?.code == "not_background")
        #expect(Content.error(background)?.path == "localizations.de.alert")
        let raw = #"{"payload":{"aps":{"alert":"x"}},"localizations":{"de":{}}}"#
        #expect(Content.error(raw)?.path == "localizations.de.payload")
    }

    @Test func localizationsHaveALimit() {
        let letters = Array("abcdefghijk")
        let tags = letters.flatMap { first in letters.map { "\(first)\($0)" } }
        let variants = tags.map { #""\#($0)":{"alert":"y"}"# }.joined(separator: ",")
        #expect(Content.error(#"{"alert":"x","localizations":{\#(variants)}}"#)?.code == "too_many")
    }

    @Test func aLargePayloadIsNotCopiedForEachLocale() {
        let large = String(repeating: "a", count: 40_000)
        let locales = (0..<50).map { #""de-x\#($0)":{"alert":"y"}"# }.joined(separator: ",")
        let refusal = Content.error(
            #"{"alert":"x","data":{"a":"\#(large)"},"localizations":{\#(locales)}}"#
        )
        #expect(refusal?.code == "payload_too_large")
        #expect(refusal?.path == "alert")
    }
}
