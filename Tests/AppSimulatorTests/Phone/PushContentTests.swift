import Foundation
import PushTesting
import Testing

@testable import AppSimulator

@Suite("Payloads that nobody should send") struct PushContentTests {
    @Test(
        "Each member of a wrong type is a problem, and the rest counts",
        arguments: [
            (#""badge":"3""#, "aps.badge is not a whole number of 0 or more"),
            (#""badge":-1"#, "aps.badge is not a whole number of 0 or more"),
            (#""badge":1.5"#, "aps.badge is not a whole number of 0 or more"),
            (#""sound":7"#, "aps.sound is neither a text nor an object"),
            (#""thread-id":{}"#, "aps.thread-id is not a text"),
            (#""category":[]"#, "aps.category is not a text"),
            (#""content-available":true"#, "aps.content-available is not the number 1"),
            (#""mutable-content":"1""#, "aps.mutable-content is not the number 1"),
            (#""interruption-level":1"#, "aps.interruption-level is not a text"),
            (#""interruption-level":"x""#, "aps.interruption-level is unknown: 'x'"),
            (#""event":5"#, "aps.event is not a text"),
            (#""event":"end","timestamp":1e300"#, "aps.timestamp is not a time in seconds since 1970"),
            (#""event":"end","stale-date":-1"#, "aps.stale-date is not a time in seconds since 1970"),
            (#""event":"end","content-state":[]"#, "aps.content-state is not an object"),
        ]
    )
    func wrongTypes(member: String, problem: String) {
        let content = PushContent(payload: Data(#"{"aps":{"alert":"x",\#(member)}}"#.utf8))
        #expect(content.problems == [problem])
        #expect(content.body == "x")
    }

    @Test(
        "Alerts of wrong types are problems",
        arguments: [
            ("5", "aps.alert is neither a text nor an object"), (#"{"title":5}"#, "aps.alert.title is not a text"),
            (#"{"title":{"loc-key":1}}"#, "aps.alert.title.loc-key is not a text"),
            (#"{"loc-key":"K","loc-args":"x"}"#, "aps.alert.loc-args is not an array"),
        ]
    )
    func wrongAlerts(alert: String, problem: String) {
        #expect(PushContent(payload: Data(#"{"aps":{"alert":\#(alert)}}"#.utf8)).problems == [problem])
    }

    @Test("Keys stand for the texts that the app has for them")
    func keys() {
        let text = #"{"aps":{"alert":{"title-loc-key":"T","loc-key":"B","loc-args":["a",1]}}}"#
        let content = PushContent(payload: Data(text.utf8))
        #expect(content.title == "T" && content.body == "B(a, 1)" && content.problems.isEmpty)
        let activity = #"{"aps":{"alert":{"title":{"loc-key":"T"},"body":{"loc-key":"B","loc-args":["x"]}}}}"#
        let alert = PushContent(payload: Data(activity.utf8))
        #expect(alert.title == "T" && alert.body == "B(x)")
    }

    @Test(
        "A text that is no payload is a problem and shows nothing",
        arguments: [
            "", "null", "[]", "5", #""aps""#, "{", #"{"aps":5}"#, #"{"aps":[]}"#, "{}", "\u{0}",
            #"{"aps":{"alert":"x"}"#,
        ]
    )
    func garbage(text: String) {
        var phone = Phone()
        let events = phone.receive(text)
        #expect(events.problems.count == 1)
        #expect(events.reasons == [.noContent] && phone.bodies.isEmpty)
    }

    @Test("A payload that is too long or too deep is not read")
    func limits() {
        let long = #"{"aps":{"alert":"\#(String(repeating: "x", count: PushContent.maximumLength))"}}"#
        #expect(PushContent(payload: Data(long.utf8)).problems.first?.contains("more than 65536") == true)
        let deep = #"{"aps":"# + String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000) + "}"
        #expect(PushContent(payload: Data(deep.utf8)).problems == ["the payload is not a JSON object"])
    }

    @Test("Random changes of payloads never crash the phone")
    func mutations() {
        var generator = SeededGenerator(seed: 15)
        let seeds = [
            #"{"aps":{"alert":{"title":"T","body":"B","loc-args":["a"]},"badge":3,"sound":{"critical":1,"name":"s"}}}"#,
            #"{"aps":{"event":"start","timestamp":1700000000,"attributes-type":"T","attributes":{},"alert":"x"}}"#,
            #"{"aps":{"content-available":1,"mutable-content":1},"class":"Order","property":{"id":1}}"#,
        ].map { Array($0.utf8) }
        var phone = Phone()
        for round in 0..<3000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
            }
            let type = ["alert", "background", "liveactivity", nil][round % 4]
            let push = PhonePush(apnsID: "\(round % 50)", pushType: type, collapseID: "c", payload: Data(bytes))
            switch phone.center.arrived(push) {
            case .drop: break
            case .deliver(let content), .runExtension(let content):
                let events = phone.center.deliver(content, of: push, now: phone.now)
                #expect(events.allSatisfy { !SimulatorEvent($0).lines.isEmpty })
            }
            _ = phone.advance(by: 1)
        }
        #expect(phone.center.entries.count <= 1)
    }
}
