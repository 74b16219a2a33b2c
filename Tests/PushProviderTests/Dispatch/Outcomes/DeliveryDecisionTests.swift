import Foundation
import ProviderModel
import PushSender
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite struct DeliveryDecisionTests {
    let now = Vectors.issuedAt
    var later: Timestamp { self.now.advanced(by: .seconds(86_400)) }

    @Test func acceptedIsFinal() {
        let decision = self.decide(.accepted(.init(id: "id")))
        #expect(decision == DeliveryDecision(next: .final(.accepted, reason: nil)))
    }

    @Test func a410CountsFromItsOwnTimeElseFromTheSending() {
        let confirmed = Timestamp(milliseconds: 1_699_999_999_500)
        let gone = Rejection(status: 410, reasonText: "Unregistered", timestamp: confirmed)
        #expect(self.decide(.rejected(gone)).token == .deactivated(since: confirmed))
        let silent = Rejection(status: 410, reasonText: "Unregistered")
        #expect(self.decide(.rejected(silent)).token == .deactivated(since: self.now))
    }

    @Test(arguments: ["BadDeviceToken", "DeviceTokenNotForTopic"])
    func aBadTokenIsNoDeadToken(reason: String) {
        let decision = self.decide(.rejected(Rejection(status: 400, reasonText: reason)))
        #expect(
            decision == DeliveryDecision(next: .final(.rejected, reason: reason), token: .suspected, reason: reason)
        )
    }

    @Test func aProviderErrorDoesNotConcernTheToken() {
        let reason = "PayloadTooLarge"
        let decision = self.decide(.rejected(Rejection(status: 413, reasonText: reason)))
        #expect(decision == DeliveryDecision(next: .final(.rejected, reason: reason), token: nil, reason: reason))
    }

    /// Unless it pauses the environment, it is tried again like a failure of the push service.
    @Test(arguments: [(403, "InvalidProviderToken"), (400, "TopicDisallowed")])
    func aConfigurationFaultIsTriedAgain(status: Int, reason: String) {
        let decision = self.decide(.rejected(Rejection(status: status, reasonText: reason)))
        guard case .retry(_, attempts: 1) = decision.next else {
            Issue.record("\(decision)")
            return
        }
        #expect(decision.token == nil)
        #expect(decision.reason == reason)
    }

    @Test(arguments: [
        Outcome.rejected(Rejection(status: 503, reasonText: "ServiceUnavailable")),
        .rejected(Rejection(status: 429, reasonText: "TooManyRequests")),
        .unknown(.init("no answer")),
    ])
    func transientErrorsAreTriedAgainWithinTheBackoff(outcome: Outcome) {
        for attempts in 1..<RetryPolicy().maximumAttempts {
            guard case .retry(let at, attempts) = self.decide(outcome, attempts: attempts).next else {
                Issue.record("no retry after \(attempts)")
                continue
            }
            let limit = RetryPolicy().backoff.limit(afterFailures: attempts)
            #expect(at >= self.now && at <= self.now.advanced(by: limit))
        }
    }

    @Test func triesAreLimited() {
        let outcome = Outcome.unknown(.init("no answer"))
        guard case .final(.unknown, let reason) = self.decide(outcome, attempts: RetryPolicy().maximumAttempts).next
        else {
            Issue.record("not unknown")
            return
        }
        #expect(reason?.contains("no answer") == true)
        let rejection = Rejection(status: 503, reasonText: "ServiceUnavailable")
        let last = self.decide(.rejected(rejection), attempts: RetryPolicy().maximumAttempts).next
        guard case .final(.failed, _) = last else {
            Issue.record("not failed")
            return
        }
    }

    /// A response that was lost earlier is not forgotten: only a final response tells more.
    @Test func aLostResponseMakesTheEndUnknown() {
        let expires = self.now
        for outcome in [.notSent(.init("refused")), .rejected(Rejection(status: 503, reasonText: "x"))] as [Outcome] {
            let ends = [false, true].map { self.decide(outcome, expires: expires, mayHaveArrived: $0).next }
            guard case .final(.failed, let first?) = ends[0], case .final(.unknown, let second?) = ends[1] else {
                Issue.record("\(ends)")
                continue
            }
            #expect(first.contains("before it could be sent:") && second.contains("before it could be sent again:"))
        }
        let gone = Outcome.rejected(Rejection(status: 410, reasonText: "Unregistered"))
        #expect(self.decide(gone, mayHaveArrived: true).next == .final(.rejected, reason: "Unregistered"))
        #expect(self.decide(.accepted(.init(id: "x")), mayHaveArrived: true).next == .final(.accepted, reason: nil))
        #expect(self.decide(.unknown(.init("lost"))).mayHaveArrived)
        #expect(self.decide(.notSent(.init("refused")), mayHaveArrived: true).mayHaveArrived)
        #expect(!self.decide(.notSent(.init("refused"))).mayHaveArrived)
    }

    @Test func retryAfterIsTheLeastDelay() {
        let rejection = Rejection(status: 429, reasonText: "TooManyRequests", retryAfter: .seconds(600))
        guard case .retry(let at, _) = self.decide(.rejected(rejection)).next else {
            Issue.record("no retry")
            return
        }
        #expect(at >= self.now.advanced(by: .seconds(600)))
    }

    @Test func nothingIsTriedAfterItExpired() {
        let rejection = Rejection(status: 503, reasonText: "ServiceUnavailable", retryAfter: .seconds(11))
        let decision = self.decide(.rejected(rejection), expires: self.now.advanced(by: .seconds(10)))
        guard case .final(.failed, _) = decision.next else {
            Issue.record("tried again after it expired")
            return
        }
    }

    /// However long the delay might be otherwise, a try comes before the expiry.
    @Test(arguments: [2, 10, 59])
    func theDelayFitsIntoTheTimeLeft(seconds: Int) {
        let expires = self.now.advanced(by: .seconds(seconds))
        let outcomes: [Outcome] = [
            .notSent(.init("no connection")), .rejected(Rejection(status: 503, reasonText: "ServiceUnavailable")),
            .rejected(Rejection(status: 429, reasonText: "TooManyRequests", retryAfter: .seconds(1))),
        ]
        for outcome in outcomes {
            for _ in 0..<100 {
                guard case .retry(let at, _) = self.decide(outcome, attempts: 7, expires: expires).next else {
                    Issue.record("\(outcome) has no other try, with \(seconds) s left")
                    return
                }
                #expect(at >= self.now && at < expires)
            }
        }
    }

    /// A push that never left waits for a second at least.
    @Test func withoutTimeForADelayItHasExpired() {
        let outcome = Outcome.notSent(.init("no connection"))
        let decision = self.decide(outcome, expires: self.now.advanced(by: .seconds(1)))
        #expect(decision.next == .final(.failed, reason: "expired before it could be sent: no connection"))
    }

    @Test func pushesThatNeverLeftDoNotCount() {
        let outcome = Outcome.notSent(.init("no connection"))
        let decision = self.decide(outcome, attempts: RetryPolicy().maximumAttempts + 1)
        guard case .retry(let at, RetryPolicy().maximumAttempts) = decision.next else {
            Issue.record("not tried again")
            return
        }
        #expect(at >= self.now.advanced(by: .seconds(1)) && at <= self.now.advanced(by: .seconds(60)))
    }

    @Test func aPushThatCannotBeSentIsNotTriedAgain() {
        let outcome = Outcome.notSent(.init("a header is malformed", isOfPush: true))
        for (mayHaveArrived, state) in [(false, DeliveryRecord.State.failed), (true, .unknown)] {
            let decision = self.decide(outcome, mayHaveArrived: mayHaveArrived)
            #expect(decision.next == .final(state, reason: "a header is malformed"))
            #expect(decision.token == nil)
        }
    }

    private func decide(
        _ outcome: Outcome,
        attempts: Int = 1,
        expires: Timestamp? = nil,
        mayHaveArrived: Bool = false
    ) -> DeliveryDecision {
        var generator = SystemRandomNumberGenerator()
        return DeliveryDecision.make(
            outcome,
            attempts: attempts,
            sentAt: self.now,
            expires: expires ?? self.later,
            mayHaveArrived: mayHaveArrived,
            policy: RetryPolicy(),
            clocks: ClockReading(self.now),
            using: &generator
        )
    }
}
