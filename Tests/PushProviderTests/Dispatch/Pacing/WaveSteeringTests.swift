import Foundation
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// Waves that wait for downloads, by a clock that tests move.
@Suite struct WaveSteeringTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    private static func steering(downloads: Int? = nil, bandwidth: Int? = nil) throws -> WaveSteering {
        WaveSteering(
            limits: try #require(SteeringLimits(maximumBandwidth: bandwidth, maximumDownloads: downloads))
        )
    }

    private static func figures(open: Int = 0, bytes: Int = 0) -> DownloadFigures {
        DownloadFigures(open: open, bytesPerSecond: bytes)
    }

    private static func waits(_ decision: WaveSteering.Decision) -> HeldWave.Cause? {
        if case .wait(let wait) = decision { wait.cause } else { nil }
    }

    @Test func aWaveBeginsBelowBothLimits() throws {
        var steering = try Self.steering(downloads: 10, bandwidth: 1000)
        #expect(steering.decide(Self.figures(open: 9, bytes: 999), now: Self.start) == .begin)
        #expect(Self.waits(steering.decide(Self.figures(open: 10), now: Self.start)) == .downloads)
        steering = try Self.steering(downloads: 10, bandwidth: 1000)
        #expect(Self.waits(steering.decide(Self.figures(bytes: 1000), now: Self.start)) == .bandwidth)
    }

    /// A limit that is not set is no limit.
    @Test func oneLimitIsEnough() throws {
        var steering = try Self.steering(downloads: 10)
        #expect(steering.decide(Self.figures(open: 9, bytes: .max), now: Self.start) == .begin)
        steering = try Self.steering(bandwidth: .max)
        #expect(steering.decide(Self.figures(open: .max, bytes: .max - 1), now: Self.start) == .begin)
        #expect(Self.waits(steering.decide(Self.figures(bytes: .max), now: Self.start)) == .bandwidth)
    }

    @Test func aWaitingWaveBeginsBelowFourFifths() throws {
        var steering = try Self.steering(downloads: 10, bandwidth: 1000)
        let wait = steering.decide(Self.figures(open: 10), now: Self.start)
        let later = Self.start.advanced(by: .seconds(5))
        #expect(Self.waits(steering.decide(Self.figures(open: 8), now: later)) == .downloads)
        // The other figure has the same distance while the wave waits.
        #expect(Self.waits(steering.decide(Self.figures(open: 7, bytes: 800), now: later)) == .bandwidth)
        guard case .wait(let first) = wait, case .wait(let second) = steering.decide(Self.figures(open: 9), now: later)
        else {
            Issue.record("it waits")
            return
        }
        #expect(first.since == Self.start && second.since == Self.start)
        #expect(steering.decide(Self.figures(open: 7, bytes: 799), now: later) == .begin)
        #expect(steering.decide(Self.figures(open: 9), now: later) == .begin, "it does not wait any more")
    }

    @Test func withoutFiguresAWaveWaitsAMinute() throws {
        var steering = try Self.steering(downloads: 10)
        #expect(Self.waits(steering.decide(nil, now: Self.start)) == .figures)
        #expect(Self.waits(steering.decide(nil, now: Self.start.advanced(by: .seconds(59)))) == .figures)
        let end = Self.start.advanced(by: .seconds(60))
        #expect(steering.decide(nil, now: end) == .begin)
        #expect(steering.decide(nil, now: end.advanced(by: .seconds(300))) == .begin)
        // Figures count as soon as they come, and their loss begins another minute.
        #expect(Self.waits(steering.decide(Self.figures(open: 10), now: end)) == .downloads)
        #expect(Self.waits(steering.decide(nil, now: end)) == .figures)
    }

    /// Some readers that never end do not stop a campaign.
    @Test func noWaveWaitsForEver() throws {
        var steering = try Self.steering(downloads: 10)
        let last = Self.start.advanced(by: .seconds(1799))
        #expect(Self.waits(steering.decide(Self.figures(open: 10), now: Self.start)) == .downloads)
        #expect(Self.waits(steering.decide(Self.figures(open: 10), now: last)) == .downloads)
        let end = Self.start.advanced(by: .seconds(1800))
        #expect(steering.decide(Self.figures(open: 10), now: end) == .begin)
        // The next wave waits as long again.
        #expect(Self.waits(steering.decide(Self.figures(open: 10), now: end)) == .downloads)
    }

    /// A restart forgets that a wave waited: it is decided by the limits themselves, once the figures are known.
    @Test func aRestartDecidesAnew() throws {
        var before = try Self.steering(downloads: 10)
        _ = before.decide(Self.figures(open: 10), now: Self.start)
        #expect(Self.waits(before.decide(Self.figures(open: 9), now: Self.start)) == .downloads)
        var after = try Self.steering(downloads: 10)
        #expect(Self.waits(after.decide(nil, now: Self.start)) == .figures)
        #expect(Self.waits(after.decide(Self.figures(open: 8), now: Self.start)) == .downloads)
        #expect(after.decide(Self.figures(open: 7), now: Self.start) == .begin)
    }

    @Test func aClockThatIsSetBackDoesNotLengthenTheMinute() throws {
        var steering = try Self.steering(downloads: 10)
        _ = steering.decide(nil, now: Self.start)
        _ = steering.decide(nil, now: Self.start.advanced(by: .seconds(-3600)))
        #expect(steering.decide(nil, now: Self.start.advanced(by: .seconds(-3540))) == .begin)
    }

    @Test func waitsAreForgottenAfterTheirTime() {
        let (waits, id) = (HeldWaveRegistry(), UUID())
        let wait = HeldWave(cause: .downloads, since: Self.start, figures: nil)
        waits.note(wait, of: id, now: Self.start)
        #expect(waits.wait(of: id, now: Self.start.advanced(by: .seconds(29))) == wait)
        #expect(waits.counts(now: Self.start) == [.downloads: 1])
        #expect(waits.wait(of: id, now: Self.start.advanced(by: .seconds(30))) == nil)
        #expect(waits.counts(now: Self.start.advanced(by: .seconds(30))) == [:])
        waits.note(nil, of: id, now: Self.start)
        #expect(waits.wait(of: id, now: Self.start) == nil)
    }
}
