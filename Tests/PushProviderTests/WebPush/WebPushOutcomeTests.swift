import ProviderModel
import PushSender
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebPushOutcomeTests {
    private func outcome(_ status: Int, _ body: String = "", retryAfter: Duration? = nil) -> Outcome {
        WebPushOutcome(status: status, retryAfter: retryAfter, body: Array(body.utf8)).outcome(id: "id")
    }

    private func rejection(_ status: Int, _ body: String = "", retryAfter: Duration? = nil) -> Rejection? {
        if case .rejected(let rejection) = self.outcome(status, body, retryAfter: retryAfter) { rejection } else { nil }
    }

    @Test(arguments: [200, 201, 202, 204]) func everySuccessIsAccepted(_ status: Int) {
        #expect(self.outcome(status) == .accepted(.init(id: "id")))
    }

    @Test(arguments: [404, 410]) func aSubscriptionThatIsGoneIsDropped(_ status: Int) {
        #expect(self.rejection(status)?.advice == .dropToken)
        #expect(self.rejection(status)?.reason == .unregistered)
    }

    @Test(arguments: [408, 429, 500, 502, 503, 507]) func aBusyPushServiceIsTriedAgain(_ status: Int) {
        #expect(self.rejection(status, retryAfter: .seconds(7))?.advice == .retry(after: .seconds(7)))
        #expect(self.rejection(status)?.advice == .retry(after: nil))
    }

    /// Nothing that the push service says makes a fault of the app's environments of it.
    @Test(arguments: [300, 301, 400, 401, 403, 405, 413, 418])
    func whatIsOurFaultIsFinal(_ status: Int) {
        for body in ["", "no", #"{"reason":"BadPath"}"#, #"{"reason":"TopicDisallowed"}"#, #"{"reason":7}"#, "{"] {
            #expect(self.rejection(status, body)?.advice == .fixNotification, "\(status) \(body)")
            #expect(ConfigurationFault(self.outcome(status, body), at: .apple(.production)) == nil)
        }
    }

    @Test func theLedgerNamesKnownReasonsOnly() {
        #expect(self.rejection(403, #"{"reason":"VapidPkHashMismatch"}"#)?.reasonText == "403 VapidPkHashMismatch")
        #expect(self.rejection(401, #"{"code":401,"errno":109,"error":"Unauthorized"}"#)?.reasonText == "401 errno 109")
        #expect(self.rejection(400, #"{"reason":"anything else"}"#)?.reasonText == "HTTP status 400")
        #expect(self.rejection(400, #"{"errno":123456789}"#)?.reasonText == "HTTP status 400")
        #expect(self.rejection(413, "<html>")?.reasonText == "HTTP status 413")
    }
}
