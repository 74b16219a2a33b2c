import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The strain of push services.
@Suite struct PacingControllerTests {
    private static func delay(reached: Int, of total: Int, isWeb: Bool) -> Duration {
        var report = AdaptiveRateLimiter.Report()
        // The delay itself is drawn, and may be zero.
        (report.accepted, report.unreachable, report.retryAfter) = (reached, total - reached, .seconds(5))
        let target = DispatchTarget(app: 1, environment: .production, isWeb: isWeb)
        return PacingController(page: 500).record(report, of: target, now: Vectors.issuedAt)
    }

    @Test func aDeadPushServiceOfBrowsersHoldsUpNoneOfTheOthers() {
        #expect(Self.delay(reached: 60, of: 100, isWeb: true) == .zero)
        #expect(Self.delay(reached: 60, of: 100, isWeb: false) > .zero)
        #expect(Self.delay(reached: 10, of: 100, isWeb: true) > .zero, "our own network is down, rather")
    }
}
