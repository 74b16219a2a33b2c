import PushTesting
import Testing

@testable import PushProvider

@Suite struct AdaptiveRateLimiterTests {
    typealias Report = AdaptiveRateLimiter.Report

    static func report(accepted: Int = 0, throttled: Int = 0, unavailable: Int = 0, unreachable: Int = 0) -> Report {
        var report = Report()
        report.accepted = accepted
        report.throttled = throttled
        report.unavailable = unavailable
        report.unreachable = unreachable
        return report
    }

    @Test func goodPagesAreNotDelayed() {
        var limiter = AdaptiveRateLimiter()
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            var report = Self.report(accepted: 300, throttled: 5, unavailable: 10)
            report.rejected = 185
            let delay1 = limiter.record(report, using: &generator)
            #expect(delay1 == .zero)
        }
        #expect(limiter.pageSize == 500)
    }

    @Test(arguments: [(100, 0, 0), (0, 100, 0), (0, 0, 100), (20, 20, 10)])
    func strainDoublesTheDelayAndHalvesThePage(throttled: Int, unavailable: Int, unreachable: Int) {
        var limiter = AdaptiveRateLimiter()
        var generator = SeededGenerator(seed: 2)
        let report = Self.report(
            accepted: 400,
            throttled: throttled,
            unavailable: unavailable,
            unreachable: unreachable
        )
        var limit = Duration.milliseconds(500)
        var sizes: [Int] = []
        for _ in 0..<40 {
            let delay = limiter.record(report, using: &generator)
            #expect(delay >= .zero && delay <= limit)
            limit = min(limit * 2, .seconds(60))
            sizes.append(limiter.pageSize)
        }
        #expect(sizes.prefix(6) == [250, 125, 62, 31, 20, 20])
        #expect(limiter.level == 16)
    }

    @Test func theDelayIsSpread() {
        var generator = SeededGenerator(seed: 3)
        var delays: Set<Duration> = []
        for _ in 0..<50 {
            var limiter = AdaptiveRateLimiter()
            delays.insert(limiter.record(Self.report(unavailable: 500), using: &generator))
        }
        #expect(delays.count > 30)
    }

    @Test func retryAfterIsObeyedWithinBounds() {
        var generator = SeededGenerator(seed: 4)
        for (asked, least) in [(30, 30), (100_000_000, 900), (-5, 0)] as [(Int, Int)] {
            var limiter = AdaptiveRateLimiter()
            var report = Self.report(unavailable: 500)
            report.retryAfter = .seconds(asked)
            let delay = limiter.record(report, using: &generator)
            #expect(delay >= .seconds(least) && delay <= .seconds(max(least, 1)))
        }
    }

    @Test func itRecoversPageByPage() {
        var limiter = AdaptiveRateLimiter()
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<3 { _ = limiter.record(Self.report(unavailable: 500), using: &generator) }
        var sizes: [Int] = []
        for _ in 0..<10 {
            let delay2 = limiter.record(Self.report(accepted: 60), using: &generator)
            #expect(delay2 == .zero)
            sizes.append(limiter.pageSize)
        }
        #expect(sizes == [112, 162, 212, 262, 312, 362, 412, 462, 500, 500])
        #expect(limiter.level == 0)
    }

    @Test func aSingleDeviceIsNotStrain() {
        var limiter = AdaptiveRateLimiter()
        var generator = SeededGenerator(seed: 6)
        for _ in 0..<19 {
            let delay3 = limiter.record(Self.report(throttled: 1), using: &generator)
            #expect(delay3 == .zero)
        }
        _ = limiter.record(Self.report(accepted: 400), using: &generator)
        #expect(limiter.level == 0)
        // Many of them in a row do.
        for _ in 0..<20 { _ = limiter.record(Self.report(unavailable: 1), using: &generator) }
        #expect(limiter.level == 1)
    }

    @Test func anEmptyPageIsNotStrain() {
        var limiter = AdaptiveRateLimiter()
        var generator = SeededGenerator(seed: 7)
        let delay4 = limiter.record(Report(), using: &generator)
        #expect(delay4 == .zero)
        #expect(limiter.level == 0)
    }
}
