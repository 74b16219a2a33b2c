import Foundation
import MartletKit
import PushSupport
import Testing

@testable import AppSimulator

@Suite("Live Activities of a phone") struct LiveActivityTests {
    private var phone = Phone()

    /// Delivers a push for a Live Activity. Times are seconds after the phone's clock.
    private mutating func push(
        _ event: String,
        _ more: String = "",
        attributes: String = #"{"n":1}"#,
        at time: Int = 0,
        channel: String? = nil
    ) -> [PhoneEvent] {
        let seconds = Int(self.phone.now.timeIntervalSince1970) + time
        let start =
            event == "start"
            ? #","attributes-type":"Order","attributes":\#(attributes),"alert":{"title":"Order"}"# : ""
        return self.phone.receive(
            #"{"aps":{"event":"\#(event)","timestamp":\#(seconds)\#(start)\#(more)}}"#,
            type: "liveactivity",
            channel: channel
        )
    }

    private func seconds(_ time: Int) -> Int { Int(self.phone.now.timeIntervalSince1970) + time }

    @Test("A Live Activity starts, is updated and ends, and leaves after its dismissal date")
    mutating func life() {
        #expect(self.push("start", #","content-state":{"s":1}"#).changes == [.started])
        #expect(self.push("update", #","content-state":{"s":2}"#).changes == [.updated])
        #expect(self.phone.center.activities.first?.contentState == ["s": .integer(2)])
        #expect(
            self.push("end", #","content-state":{"s":3},"dismissal-date":\#(self.seconds(60))"#).changes == [.ended]
        )
        #expect(self.phone.center.nextChange == self.phone.now + 60)
        #expect(self.phone.advance(by: 59).changes.isEmpty)
        #expect(self.phone.advance(by: 1).changes == [.removed])
        #expect(self.phone.center.activities.isEmpty && self.phone.center.nextChange == nil)
    }

    @Test("One whose stale date passes is stale, once, until an update")
    mutating func stale() {
        _ = self.push("start", #","stale-date":\#(self.seconds(10))"#)
        #expect(self.phone.advance(by: 9).changes.isEmpty)
        #expect(self.phone.advance(by: 1).changes == [.stale])
        #expect(self.phone.advance(by: 100).changes.isEmpty)
        #expect(self.phone.center.activities.first?.isStale == true)
        #expect(self.push("update").changes == [.updated])
        #expect(self.phone.center.activities.first?.isStale == false)
        #expect(self.push("update", #","stale-date":\#(self.seconds(-1))"#).changes == [.updated, .stale])
    }

    @Test("An ended one stays four hours at most, and goes at once with a date in the past")
    mutating func dismissal() {
        _ = self.push("start")
        #expect(self.push("end").changes == [.ended])
        #expect(self.phone.advance(by: LiveActivity.longestStay - 1).changes.isEmpty)
        #expect(self.phone.advance(by: 1).changes == [.removed])
        _ = self.push("start")
        #expect(self.push("end", #","dismissal-date":\#(self.seconds(-5))"#).changes == [.ended, .removed])
        _ = self.push("start")
        _ = self.push("end", #","dismissal-date":\#(self.seconds(1_000_000))"#)
        #expect(self.phone.advance(by: LiveActivity.longestStay).changes == [.removed])
    }

    @Test("A push after the end changes nothing, and neither does an older one")
    mutating func order() {
        #expect(self.push("update").reasons == [.activityEnded])
        _ = self.push("start")
        #expect(self.push("update", at: -1).reasons == [.activityOutdated])
        _ = self.push("end")
        #expect(self.push("update").reasons == [.activityEnded])
    }

    @Test(
        "A start without what it needs starts nothing",
        arguments: [
            #"{"aps":{"event":"start","timestamp":1,"attributes":{},"alert":"x"}}"#,
            #"{"aps":{"event":"start","timestamp":1,"attributes-type":"T","alert":"x"}}"#,
            #"{"aps":{"event":"start","timestamp":1,"attributes-type":"T","attributes":{}}}"#,
            #"{"aps":{"event":"start","attributes-type":"T","attributes":{},"alert":"x"}}"#,
            #"{"aps":{"event":"begin","timestamp":1}}"#, #"{"aps":{"timestamp":1}}"#, "{}",
        ]
    )
    mutating func incomplete(payload: String) {
        #expect(self.phone.receive(payload, type: "liveactivity").reasons == [.activityIncomplete])
        #expect(self.phone.center.activities.isEmpty)
    }

    @Test("A broadcast reaches the one that listens on its channel")
    mutating func channels() {
        _ = self.push("start", #","input-push-channel":"Y2g=""#)
        _ = self.push("start")
        #expect(self.push("update", #","content-state":{"s":1}"#, channel: "Y2g=").changes == [.updated])
        #expect(self.phone.center.activities.map(\.contentState.count) == [1, 0])
        #expect(self.push("update", channel: "b3RoZXI=").reasons == [.activityEnded])
    }

    @Test("The token is that of the activity that was started last and has not ended, and else starts one")
    mutating func tokenKind() {
        #expect(self.phone.center.activityTokenKind == .liveActivityStart)
        _ = self.push("start")
        _ = self.push("start", #","input-push-channel":"Y2g=""#)
        #expect(self.phone.center.activityTokenKind == .liveActivityUpdate(activity: "Order-1"))
        _ = self.push("start", attributes: #"{"id":"order-42"}"#)
        #expect(self.phone.center.activityTokenKind == .liveActivityUpdate(activity: "order-42"))
        _ = self.push("end")
        #expect(self.phone.center.activityTokenKind == .liveActivityUpdate(activity: "Order-1"))
        _ = self.push("end")
        #expect(self.phone.center.activityTokenKind == .liveActivityStart)
        _ = self.push("start", attributes: #"{"id":"\#(String(repeating: "x", count: 256))"}"#)
        #expect(self.phone.center.activityTokenKind == .liveActivityUpdate(activity: "Order-4"))
    }

    @Test("Alerts and badges of Live Activities are no notifications")
    mutating func alerts() {
        _ = self.push("start", #","badge":7"#)
        #expect(self.phone.bodies.isEmpty && self.phone.center.badge == 0)
    }
}
