import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import ProviderModel

@Suite struct NotificationContentTests {
    @Test(
        arguments: [
            (
                #"{"alert":{"title":"T","subtitle":"S","body":"B","launchImage":"L","titleLocKey":"TK","titleLocArgs":["1"],"#
                    + #""subtitleLocKey":"SK","subtitleLocArgs":["2"],"locKey":"K","locArgs":["3"]}}"#,
                #"{"aps":{"alert":{"body":"B","launch-image":"L","loc-args":["3"],"loc-key":"K","subtitle":"S","#
                    + #""subtitle-loc-args":["2"],"subtitle-loc-key":"SK","title":"T","title-loc-args":["1"],"#
                    + #""title-loc-key":"TK"}}}"#
            ),
            (
                #"{"alert":"B","badge":0,"sound":{"critical":true,"name":"s","volume":0.5}}"#,
                #"{"aps":{"alert":"B","badge":0,"sound":{"critical":1,"name":"s","volume":0.5}}}"#
            ),
            (
                #"{"alert":"B","threadId":"t","category":"c","contentAvailable":true,"mutableContent":true,"#
                    + #""targetContentId":"w","interruptionLevel":"time-sensitive","relevanceScore":1,"filterCriteria":"f"}"#,
                #"{"aps":{"alert":"B","category":"c","content-available":1,"filter-criteria":"f","#
                    + #""interruption-level":"time-sensitive","mutable-content":1,"relevance-score":1,"#
                    + #""target-content-id":"w","thread-id":"t"}}"#
            ),
            (
                #"{"alert":"B","contentAvailable":false,"data":{"id":7,"a":[null]}}"#,
                #"{"a":[null],"aps":{"alert":"B"},"id":7}"#
            ),
            (
                #"{"liveActivity":{"event":"start","timestamp":1700000000,"contentState":{"a-b":1},"attributesType":"Game","#
                    + #""attributes":{"team":"A"},"staleDate":1700000100,"inputPushToken":true},"#
                    + #""alert":{"title":{"locKey":"K","locArgs":["x"]},"body":"B"},"sound":"s"}"#,
                #"{"aps":{"alert":{"body":"B","sound":"s","title":{"loc-args":["x"],"loc-key":"K"}},"#
                    + #""attributes":{"team":"A"},"attributes-type":"Game","content-state":{"a-b":1},"event":"start","#
                    + #""input-push-token":1,"stale-date":1700000100,"timestamp":1700000000}}"#
            ),
            (
                #"{"liveActivity":{"event":"end","timestamp":1700000000,"contentState":{},"dismissalDate":0}}"#,
                #"{"aps":{"content-state":{},"dismissal-date":0,"event":"end","timestamp":1700000000}}"#
            ),
        ]
    )
    func typedMembersMakeThePayload(body: String, payload: String) throws {
        #expect(try Content.parse(body).payloadText == payload)
    }

    @Test(
        arguments: [
            (#"{"alert":"x"}"#, PushType.alert, "", #"{"aps":{"alert":"x"}}"#),
            (#"{"pushType":"background","data":{"a":1}}"#, .background, "", #"{"a":1,"aps":{"content-available":1}}"#),
            (#"{"pushType":"complication","data":{"a":1}}"#, .complication, ".complication", #"{"a":1}"#),
            (#"{"pushType":"controls"}"#, .controls, ".push-type.controls", #"{"aps":{"content-changed":true}}"#),
            (
                #"{"pushType":"widgets","contentChanged":true}"#, .widgets, ".push-type.widgets",
                #"{"aps":{"content-changed":true}}"#
            ),
            (
                #"{"fileProvider":{"containerIdentifier":"i","domain":"d"}}"#, .fileprovider, ".pushkit.fileprovider",
                #"{"container-identifier":"i","domain":"d"}"#
            ),
            (
                #"{"liveActivity":{"event":"update","timestamp":1700000000,"contentState":{"n":1}}}"#, .liveactivity,
                ".push-type.liveactivity", #"{"aps":{"content-state":{"n":1},"event":"update","timestamp":1700000000}}"#
            ),
            (#"{"pushType":"location"}"#, .location, ".location-query", "{}"),
            (#"{"mdm":{"pushMagic":"M"}}"#, .mdm, "", #"{"mdm":"M"}"#),
            (#"{"pushType":"pushtotalk","data":{"who":"a"}}"#, .pushtotalk, ".voip-ptt", #"{"who":"a"}"#),
            (
                #"{"pushToTalk":{"serviceUpdate":true}}"#, .pushtotalk, ".voip-ptt",
                #"{"aps":{"ptt-push-type":"service-update"}}"#
            ),
            (#"{"pushType":"voip","data":{"call":1}}"#, .voip, ".voip", #"{"call":1}"#),
            (#"{"wallet":true}"#, .alert, "", "{}"),
        ]
    )
    func everyPushTypeHasItsTopicAndPayload(body: String, type: PushType, suffix: String, payload: String) throws {
        let content = try Content.parse(body)
        #expect(content.pushType == type)
        #expect(content.topic.name == Vectors.bundleID + suffix)
        #expect(content.payloadText == payload)
        #expect(!content.isTemplate)
        #expect(content.priority == (type == .background ? .powerAware : .immediate))
    }

    @Test func aTopicMayBeNamed() throws {
        let mdm = try Content.parse(#"{"mdm":{"pushMagic":"M"},"topic":"com.apple.mgmt.External.1"}"#)
        #expect(mdm.topic.name == "com.apple.mgmt.External.1")
        #expect(mdm.warnings.isEmpty)
        let pass = try Content.parse(#"{"payload":{},"topic":"pass.com.example"}"#)
        #expect(pass.payloadText == "{}")
        #expect(pass.warnings.isEmpty)
        #expect(try Content.parse(#"{"wallet":true}"#).warnings.map(\.field) == ["topic"])
        #expect(try Content.parse(#"{"alert":"x","topic":"com.example.Other"}"#).warnings.map(\.field) == ["topic"])
    }

    @Test(
        arguments: [
            (#"{"alert":"x","topic":"a b"}"#, "topic"), (#"{"alert":"x","topic":"com.example.MyApp.voip"}"#, "topic"),
            (#"{"data":{"a":1},"pushType":"voip","topic":"com.example.MyApp"}"#, "topic"),
            (#"{"data":{"a":1},"pushType":"voip","topic":".voip"}"#, "topic"),
        ]
    )
    func aTopicMustFitThePushType(body: String, field: String) {
        let refusal = Content.error(body)
        #expect(refusal?.code == "invalid_topic")
        #expect(refusal?.path == field)
    }

    @Test func aBundleIDMayLookLikeATopicWithSuffix() throws {
        let content = try Content.parse(#"{"alert":"x","topic":"com.example.voip"}"#, bundleID: "com.example.voip")
        #expect(content.topic.name == "com.example.voip")
    }

    @Test func contentWithoutVariablesIsStoredAsItIsSent() throws {
        let content = try Content.parse(#"{"alert":"no variable","template":true}"#)
        #expect(!content.isTemplate)
        #expect(content.payloadText == #"{"aps":{"alert":"no variable"}}"#)
    }

    @Test func bracesAreTextWithoutTemplate() throws {
        let content = try Content.parse(#"{"alert":"{{name}} {{"}"#)
        #expect(content.payloadText == #"{"aps":{"alert":"{{name}} {{"}}"#)
        #expect(content.warnings.map(\.field) == ["alert"])
    }

    @Test func aTemplateIsStoredInOneForm() throws {
        let body = #"{"alert":"Hi {{name|you}}","badge":"+1","localizations":{"pt_BR":{"alert":"Oi"}},"template":true}"#
        let content = try Content.parse(body)
        #expect(content.isTemplate)
        #expect(
            content.payloadText
                == #"{"badge":{"increment":1},"localizations":{"pt-br":{"aps":{"alert":"Oi"}}},"#
                + #""payload":{"aps":{"alert":"Hi {{name|you}}"}},"variables":true,"version":1}"#
        )
    }

    @Test(
        arguments: [
            #"{"alert":"x","title":"y"}"#, #"{"alert":"x","expiration":1700000000000000}"#, #"{"a\u0000":1}"#,
            #"{"alert":"x","localizations":[]}"#, #"{"alert":"x","template":"yes"}"#,
        ]
    )
    func garbageIsRejected(body: String) {
        #expect(Content.error(body)?.kind == .invalid)
    }

    @Test func nestingAndLengthHaveLimits() {
        let deep = String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        #expect(Content.error(#"{"alert":"x","data":{"a":\#(deep)}}"#)?.code == "too_deep")
        let long = String(repeating: "ä", count: 200_000)
        #expect(Content.error(#"{"alert":"\#(long)"}"#)?.code == "too_long")
        #expect(Content.error(#"{"payload":{"aps":{"alert":"\#(long)"}}}"#)?.code == "payload_too_large")
    }
}
