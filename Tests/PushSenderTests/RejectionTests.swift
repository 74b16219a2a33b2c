import NIOCore
import PushProtocol
import PushSender
import Testing

@Suite struct RejectionTests {
    @Test func onlyDeadTokensAreDropped() {
        let dropped = Reason.allCases.filter { Self.rejection($0).advice == .dropToken }
        #expect(Set(dropped) == [.unregistered, .expiredToken])
    }

    @Test(arguments: [Reason.badDeviceToken, .deviceTokenNotForTopic])
    func aTokenThatMayBeOfAnotherWorldIsOnlySuspected(reason: Reason) {
        #expect(Self.rejection(reason).advice == .suspectToken)
    }

    @Test(arguments: [Reason.invalidProviderToken, .topicDisallowed, .forbidden, .badEnvironmentKeyInToken])
    func aConfigurationFaultKeepsTheTokens(reason: Reason) {
        #expect(Self.rejection(reason).advice == .fixConfiguration)
    }

    @Test(arguments: [Reason.tooManyRequests, .internalServerError, .serviceUnavailable, .shutdown])
    func whatPassesIsTriedAgain(reason: Reason) {
        #expect(Self.rejection(reason).advice == .retry(after: nil))
    }

    @Test(arguments: [(410, Rejection.Advice.dropToken), (503, .retry(after: nil)), (403, .fixConfiguration)])
    func anUnknownReasonIsJudgedByItsStatus(status: Int, advice: Rejection.Advice) {
        #expect(Rejection(status: status, reasonText: "SomethingNew").advice == advice)
    }

    @Test func theBodyOfA410GivesReasonAndTime() {
        let body = ByteBuffer(string: #"{"reason":"Unregistered","timestamp":1699999999500}"#)
        let rejection = PushReply.rejection(status: 410, retryAfter: nil, body: body)
        #expect(rejection.reason == .unregistered)
        #expect(rejection.timestamp == Timestamp(milliseconds: 1_699_999_999_500))
    }

    @Test func retryAfterIsHonoured() {
        let body = ByteBuffer(string: #"{"reason":"ServiceUnavailable"}"#)
        #expect(PushReply.rejection(status: 503, retryAfter: "7", body: body).advice == .retry(after: .seconds(7)))
        #expect(PushReply.rejection(status: 503, retryAfter: "soon", body: body).advice == .retry(after: nil))
    }

    @Test(arguments: ["", "<html>", "{\"reason\":5}", "[]"])
    func aBodyThatIsNoAnswerLeavesTheStatusToDecide(text: String) {
        let rejection = PushReply.rejection(status: 500, retryAfter: nil, body: ByteBuffer(string: text))
        #expect(rejection.reasonText == "")
        #expect(rejection.advice == .retry(after: nil))
    }

    static func rejection(_ reason: Reason) -> Rejection {
        Rejection(status: reason.status, reasonText: reason.text)
    }
}
