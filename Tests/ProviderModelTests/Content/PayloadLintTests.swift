import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct PayloadLintTests {
    @Test(
        arguments: [
            (#"{"alert":"x","pushType":"background"}"#, "not_background", "alert"),
            (
                #"{"payload":{"aps":{"content-available":1,"sound":""}},"pushType":"background"}"#, "not_background",
                "payload.aps"
            ),
            (#"{"payload":{"aps":{"alert":{}}}}"#, "not_visible", "payload.aps"),
            (#"{"payload":{"aps":{"alert":""}}}"#, "not_visible", "payload.aps"),
            (#"{"payload":{}}"#, "not_visible", "payload.aps"),
            (#"{"payload":{"aps":{"alert":["x"]}}}"#, "wrong_type", "payload.aps.alert"),
            (#"{"payload":{"aps":{"alert":{"title":1}}}}"#, "wrong_type", "payload.aps.alert.title"),
            (
                #"{"payload":{"aps":{"alert":{"loc-key":"k","loc-args":[1]}}}}"#, "wrong_type",
                "payload.aps.alert.loc-args[0]"
            ),
            (
                #"{"payload":{"aps":{"alert":{"loc-key":"k","loc-args":"a"}}}}"#, "wrong_type",
                "payload.aps.alert.loc-args"
            ),
            (#"{"payload":{"aps":{"badge":"1"}}}"#, "wrong_type", "payload.aps.badge"),
            (#"{"payload":{"aps":{"badge":-1}}}"#, "invalid_value", "payload.aps.badge"),
            (#"{"payload":{"aps":{"badge":1.5}}}"#, "invalid_value", "payload.aps.badge"),
            (#"{"payload":{"aps":{"alert":"x","sound":5}}}"#, "wrong_type", "payload.aps.sound"),
            (
                #"{"payload":{"aps":{"alert":"x","sound":{"name":"a","volume":1.5}}}}"#, "invalid_value",
                "payload.aps.sound.volume"
            ),
            (
                #"{"payload":{"aps":{"alert":"x","content-available":"1"}}}"#, "wrong_type",
                "payload.aps.content-available"
            ),
            (#"{"payload":{"aps":{"alert":"x","thread-id":5}}}"#, "wrong_type", "payload.aps.thread-id"),
            (#"{"payload":{"aps":{"alert":"x","url-args":[5]}}}"#, "wrong_type", "payload.aps.url-args[0]"),
            (#"{"badge":1,"mutableContent":true}"#, "needs_alert", "mutableContent"),
            (#"{"alert":"x","interruptionLevel":"loud"}"#, "invalid_value", "interruptionLevel"),
            (#"{"alert":"x","relevanceScore":1.01}"#, "invalid_value", "relevanceScore"),
            (#"{"alert":"x","relevanceScore":"1"}"#, "wrong_type", "relevanceScore"),
            (#"{"alert":"x","sound":{"name":"a","volume":2}}"#, "invalid_value", "sound.volume"),
            (#"{"alert":"x","sound":{}}"#, "missing_content", "sound"),
            (#"{"alert":"x","badge":"1"}"#, "wrong_type", "badge"),
            (#"{"alert":"x","badge":"+1001"}"#, "wrong_type", "badge"),
            (#"{"alert":"x","badge":{}}"#, "missing_field", "badge.increment"),
            (#"{"pushType":"mdm","data":{"a":1}}"#, "not_mdm", "mdm.pushMagic"),
            (#"{"pushType":"mdm","payload":{"mdm":"M","a":1}}"#, "not_mdm", "payload"),
            (#"{"mdm":{"pushMagic":"M"},"badge":1}"#, "conflicting_field", "badge"),
            (#"{"wallet":true,"alert":"x"}"#, "conflicting_field", "alert"),
            (#"{"wallet":true,"pushType":"voip"}"#, "conflicting_field", "wallet"),
            (#"{"contentChanged":true}"#, "conflicting_field", "contentChanged"),
            (#"{"mdm":{"pushMagic":"M"},"liveActivity":{}}"#, "conflicting_field", "mdm"),
            (#"{"pushType":"widgets","payload":{"aps":{}}}"#, "missing_field", "payload.aps.content-changed"),
            (#"{"pushType":"fileprovider","data":{"a":1}}"#, "missing_field", "fileProvider.containerIdentifier"),
            (#"{"pushType":"voip"}"#, "missing_content", "alert"),
        ]
    )
    func aFaultNamesItsMember(body: String, code: String, field: String) {
        let refusal = Content.error(body)
        #expect(refusal?.code == code)
        #expect(refusal?.path == field)
    }

    @Test(
        arguments: [
            (#"{}"#, "missing_field", "liveActivity.event"),
            (#"{"event":"stop"}"#, "invalid_value", "liveActivity.event"),
            (#"{"event":"update"}"#, "missing_field", "liveActivity.timestamp"),
            (#"{"event":"update","timestamp":1700000000000}"#, "invalid_value", "liveActivity.timestamp"),
            (#"{"event":"update","timestamp":1700000000}"#, "missing_field", "liveActivity.contentState"),
            (#"{"event":"update","timestamp":1700000000,"contentState":5}"#, "wrong_type", "liveActivity.contentState"),
            (
                #"{"event":"update","timestamp":1700000000,"contentState":{},"staleDate":300}"#, "invalid_value",
                "liveActivity.staleDate"
            ),
            (
                #"{"event":"start","timestamp":1700000000,"contentState":{}}"#, "missing_field",
                "liveActivity.attributesType"
            ),
            (
                #"{"event":"start","timestamp":1700000000,"contentState":{},"attributesType":"A"}"#, "missing_field",
                "liveActivity.attributes"
            ),
            (
                #"{"event":"start","timestamp":1700000000,"contentState":{},"attributesType":"A","attributes":{}}"#,
                "missing_field", "alert"
            ),
            (#"{"event":"update","state":{}}"#, "unknown_field", "liveActivity.state"),
        ]
    )
    func aLiveActivityHasTheMembersOfItsEvent(activity: String, code: String, field: String) {
        let refusal = Content.error(#"{"liveActivity":\#(activity)}"#)
        #expect(refusal?.code == code)
        #expect(refusal?.path == field)
    }

    @Test func aLiveActivityHasPriorityTenOrFive() {
        let activity = #"{"event":"update","timestamp":1700000000,"contentState":{}}"#
        #expect(Content.error(#"{"liveActivity":\#(activity),"priority":1}"#)?.path == "priority")
        #expect(Content.error(#"{"liveActivity":\#(activity),"priority":5,"relevanceScore":75.5}"#) == nil)
        #expect(Content.error(#"{"liveActivity":\#(activity),"sound":"s"}"#)?.code == "needs_alert")
    }

    @Test(
        arguments: [
            (#"{"payload":{"aps":{"alert":"x","custom":1}}}"#, "payload.aps.custom"),
            (#"{"payload":{"aps":{"alert":"x","content-available":0}}}"#, "payload.aps.content-available"),
            (#"{"payload":{"aps":{"alert":"x"},"badge":1}}"#, "payload.badge"),
            (#"{"payload":{"aps":{"alert":{"body":"x","text":"y"}}}}"#, "payload.aps.alert.text"),
            (#"{"alert":"x","data":{"sound":"s"}}"#, "data.sound"),
            (#"{"alert":{"body":"x","titleLocArgs":["a"]}}"#, "alert.titleLocArgs"),
            (#"{"alert":"x","contentAvailable":true}"#, "contentAvailable"),
            (#"{"alert":"x","sound":{"critical":true}}"#, "sound"),
            (#"{"alert":"x","localizations":{"de":{"sound":{"critical":true}}}}"#, "localizations.de.sound"),
            (#"{"pushToTalk":{"serviceUpdate":true},"expiration":0,"priority":5}"#, "priority"),
            (#"{"liveActivity":{"event":"end","timestamp":1700000000}}"#, "liveActivity.contentState"),
            (
                #"{"liveActivity":{"event":"update","timestamp":1700000000,"contentState":{},"dismissalDate":1700000000},"priority":5}"#,
                "liveActivity.dismissalDate"
            ),
            (#"{"alert":"{{name}}","template":true}"#, "template"),
            (#"{"alert":"x","collapseId":"{{name}}","template":true}"#, "collapseId"),
        ]
    )
    func probableMistakesAreWarnings(body: String, field: String) throws {
        #expect(try Content.parse(body).warnings.map(\.field) == [field])
    }

    @Test func aDefaultsWarningIsNotRepeatedForItsLocalisations() throws {
        let body = #"{"alert":"x","contentAvailable":true,"localizations":{"de":{"alert":"y"},"fr":{"alert":"z"}}}"#
        #expect(try Content.parse(body).warnings.count == 1)
    }

    @Test func everyVariantMustFit() throws {
        let text = String(repeating: "a", count: 4076)
        #expect(Content.error(#"{"alert":"x","localizations":{"de":{"alert":"\#(text)"}}}"#) == nil)
        let refusal = Content.error(
            #"{"alert":"x","localizations":{"fr":{"alert":"y"},"de_DE":{"alert":"\#(text)a"}}}"#
        )
        #expect(refusal?.code == "payload_too_large")
        #expect(refusal?.path == "localizations.de_DE")
    }

    @Test func variablesCountWithTheirDefaults() {
        let text = String(repeating: "a", count: 4076)
        #expect(Content.error(#"{"alert":"\#(text){{a-name-that-is-long}}","template":true}"#) == nil)
        #expect(Content.error(#"{"alert":"\#(text){{name|b}}","template":true}"#)?.path == "alert")
    }

    @Test func anyPayloadIsReadOrRejected() {
        var generator = SeededGenerator(seed: 4)
        let names = [
            "aps", "alert", "badge", "sound", "mdm", "event", "title", "loc-args", "{{x}}", "content-available",
        ]
        let values = ["1", "-1", "1.5", "true", "null", "[]", "[1]", #""x""#, #""{{n}}""#, #""{{""#, "{}"]
        for type in PushType.allCases {
            for _ in 0..<200 {
                let inner = (0..<3).map { _ in
                    let name = names.randomElement(using: &generator) ?? ""
                    return #""\#(name)":\#(values.randomElement(using: &generator) ?? "0")"#
                }
                let payload = #"{"aps":{\#(inner.joined(separator: ","))},\#(inner[0])}"#
                _ = Content.error(#"{"payload":\#(payload),"template":true,"pushType":"\#(type.rawValue)"}"#)
            }
        }
    }
}
