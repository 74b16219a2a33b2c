import PushTypes
import PushWire
import Testing

@testable import PushSender

@Suite struct ConnectionErrorTests {
    @Test func theReasonOfAGoAwayIsRead() {
        let text = #"{"reason":"BadCertificateEnvironment"}"#
        let goAway = GoAway(lastStreamID: 0, code: 0, debugData: text)
        #expect(goAway.reason == .badCertificateEnvironment)
        #expect(goAway.isLasting)
        #expect(!HTTP2RequestFailure.goAway(goAway).allowsRetry)
    }

    @Test func plainDebugDataIsNoReason() {
        let goAway = GoAway(lastStreamID: 0, code: 11, debugData: "slow\u{0} down")
        #expect(goAway.reason == nil)
        #expect(!goAway.isLasting)
        #expect(goAway.text == "slow down (ENHANCE_YOUR_CALM)")
    }
}
