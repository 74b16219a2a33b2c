import PushTypes
import Testing

@testable import PushSender
@testable import PushWire

@Suite struct RejectionTests {
    @Test func onlyDeadTokensAreDropped() {
        let dropped = Reason.allCases.filter { Self.rejection($0).advice == .dropToken }
        #expect(Set(dropped) == [.unregistered, .expiredToken])
    }

    @Test(arguments: [Reason.badDeviceToken, .deviceTokenNotForTopic])
    func aTokenThatMayBeOfTheOtherEnvironmentIsOnlySuspected(reason: Reason) {
        #expect(Self.rejection(reason).advice == .suspectToken)
    }

    @Test(arguments: [Reason.invalidProviderToken, .topicDisallowed, .forbidden, .badEnvironmentKeyInToken])
    func aWrongSettingKeepsTheTokens(reason: Reason) {
        #expect(Self.rejection(reason).advice == .fixConfiguration)
    }

    @Test(arguments: [Reason.tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown])
    func temporaryFailuresAreRetried(reason: Reason) {
        #expect(Self.rejection(reason).advice == .retry(after: nil))
    }

    @Test(arguments: [(410, Rejection.Advice.dropToken), (503, .retry(after: nil)), (403, .fixConfiguration)])
    func anUnknownReasonIsClassifiedByItsStatus(status: Int, advice: Rejection.Advice) {
        #expect(Rejection(status: status, reasonText: "SomethingNew").advice == advice)
    }

    @Test func theBodyOfA410GivesReasonAndTime() {
        let rejection = Self.rejection(410, #"{"reason":"Unregistered","timestamp":1699999999500}"#)
        #expect(rejection.reason == .unregistered)
        #expect(rejection.timestamp == Timestamp(milliseconds: 1_699_999_999_500))
    }

    @Test func retryAfterIsRead() {
        let body = #"{"reason":"ServiceUnavailable"}"#
        #expect(Self.rejection(503, body, retryAfter: "7").advice == .retry(after: .seconds(7)))
        #expect(Self.rejection(503, body, retryAfter: "soon").advice == .retry(after: nil))
    }

    @Test(arguments: ["", "<html>", "{\"reason\":5}", "[]"])
    func anInvalidBodyLeavesTheDecisionToTheStatus(text: String) {
        let rejection = Self.rejection(500, text)
        #expect(rejection.reasonText == "")
        #expect(rejection.advice == .retry(after: nil))
    }

    private static func rejection(_ status: Int, _ body: String, retryAfter: String? = nil) -> Rejection {
        PushResponse.rejection(
            HTTP2Response(head: ResponseHead(status: status, retryAfter: retryAfter), body: Array(body.utf8))
        )
    }

    static func rejection(_ reason: Reason) -> Rejection {
        Rejection(status: reason.status, reasonText: reason.text)
    }
}
