import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The bandwidth, the number and the figures of downloads, by clocks that tests move.
@Suite(.timeLimit(.patience)) struct DownloadMonitorTests {
    private static let start = Timestamp(seconds: 1_700_000_000)

    @Test func piecesAreReservedInTheirOrder() {
        var limiter = BandwidthLimiter(rate: 1000)
        #expect(limiter.reserve(500, now: Self.start) == .zero)
        #expect(limiter.reserve(500, now: Self.start) == .milliseconds(500))
        #expect(limiter.reserve(250, now: Self.start) == .seconds(1))
        #expect(limiter.reserve(250, now: Self.start.advanced(by: .seconds(1))) == .milliseconds(250))
    }

    @Test func unusedBandwidthIsCaughtUpForAMomentOnly() {
        var limiter = BandwidthLimiter(rate: 1000)
        _ = limiter.reserve(1000, now: Self.start)
        let later = Self.start.advanced(by: .seconds(3600))
        #expect(limiter.reserve(40, now: later) == .zero)
        #expect(limiter.reserve(1000, now: later) == .zero)
        #expect(limiter.reserve(1, now: later) == .seconds(1))
    }

    @Test func whatIsLateIsReservedAnew() {
        var limiter = BandwidthLimiter(rate: 1000)
        let due = Self.start.advanced(by: .milliseconds(500))
        #expect(limiter.reserve(500, now: Self.start) == .zero)
        #expect(limiter.reserve(500, now: Self.start) == .milliseconds(500))
        #expect(limiter.renew(500, due: due, now: due.advanced(by: BandwidthLimiter.burst)) == .zero)
        // Two pieces of the time in which the process stood still follow each other.
        let later = Self.start.advanced(by: .seconds(3))
        #expect(limiter.renew(500, due: due, now: later) == .zero)
        #expect(limiter.renew(500, due: due, now: later) == .milliseconds(460))
        var unlimited = BandwidthLimiter(rate: 0)
        #expect(unlimited.renew(500, due: due, now: later) == .zero)
    }

    /// However many downloads there are, what is sent in any time stays within the limit and one piece of each.
    @Test(arguments: [1, 7, 100])
    func theLimitHoldsForManyDownloads(open: Int) {
        let rate = 1_000_000
        var limiter = BandwidthLimiter(rate: rate)
        var (ready, sent) = ([Duration](repeating: .zero, count: open), [Int](repeating: 0, count: open))
        let end = Duration.seconds(60)
        let piece = limiter.piece(open: open)
        while let next = ready.indices.min(by: { ready[$0] < ready[$1] }), ready[next] < end {
            let delay = limiter.reserve(piece, now: Self.start.advanced(by: ready[next]))
            ready[next] += max(.milliseconds(1), delay)
            if ready[next] <= end { sent[next] += piece }
        }
        let total = sent.reduce(0, +)
        #expect(total <= rate * 60 + rate / 10 + piece)
        #expect(total >= rate * 59)
        #expect((sent.max() ?? 0) - (sent.min() ?? 0) <= 2 * piece, "equal shares")
    }

    @Test func aPieceIsShortWhereManyShareLittle() {
        #expect(BandwidthLimiter(rate: 0).piece(open: 1) == BandwidthLimiter.pieces.upperBound)
        #expect(BandwidthLimiter(rate: 100_000).piece(open: 10) == 50_000)
        #expect(BandwidthLimiter(rate: 1).piece(open: 1000) == BandwidthLimiter.pieces.lowerBound)
        #expect(BandwidthLimiter(rate: .max).piece(open: 0) == BandwidthLimiter.pieces.upperBound)
    }

    @Test func throughputIsThatOfTenSeconds() {
        var meter = ThroughputMeter()
        meter.add(1000, now: Self.start)
        meter.add(1000, now: Self.start.advanced(by: .milliseconds(900)))
        #expect(meter.rate(now: Self.start) == 200)
        meter.add(3000, now: Self.start.advanced(by: .seconds(5)))
        #expect(meter.rate(now: Self.start.advanced(by: .seconds(9))) == 500)
        #expect(meter.rate(now: Self.start.advanced(by: .seconds(10))) == 300)
        #expect(meter.rate(now: Self.start.advanced(by: .seconds(60))) == 0)
        meter.add(10, now: Timestamp(milliseconds: -1))
        #expect(meter.rate(now: Timestamp(milliseconds: -1)) == 1)
    }

    private static func monitor(
        _ settings: PublishingSettings = PublishingSettings(),
        most: Int = 500,
        time: ManualTime = ManualTime()
    ) -> DownloadMonitor {
        var limits = BudgetedResource.downloads.row.limits
        limits.bounds.whole = .held(most)
        return DownloadMonitor(settings: settings, places: Budget(.downloads, limits: limits), time: time)
    }

    private static func caller(_ app: String, _ address: UInt8) throws -> BudgetCaller {
        BudgetCaller(app: Topic("com.example.\(app)"), .network([192, 0, 2, address]))
    }

    @Test func downloadsAreAdmittedUpToTheirNumber() throws {
        let monitor = Self.monitor(most: 2)
        let (a, b) = (try Self.caller("a", 1), try Self.caller("b", 2))
        let first = try monitor.begin(app: 1, for: a)
        var second: OpenDownload? = try monitor.begin(app: 2, for: b)
        #expect(second != nil)
        #expect(throws: BudgetRefusal.self) { try monitor.begin(app: 1, for: a) }
        #expect(monitor.figures.open == 2)
        // One that is released has ended as well.
        second = nil
        #expect(monitor.figures.open == 1)
        let third = try monitor.begin(app: 2, for: b)
        #expect(monitor.figures.open == 2)
        first.end()
        first.end()
        third.end()
        #expect(monitor.figures.open == 0)
    }

    /// Slow readers of an app, at one address or at many, leave places for another app, and one address leaves some for others.
    @Test(arguments: [true, false])
    func anAppLeavesPlacesForAnother(isAtOneAddress: Bool) throws {
        let monitor = Self.monitor(most: 100)
        var slow: [OpenDownload] = []
        var refusal: BudgetRefusal?
        while refusal == nil {
            let caller = try Self.caller("a", isAtOneAddress ? 1 : UInt8(slow.count))
            do throws(BudgetRefusal) {
                slow.append(try monitor.begin(app: 1, for: caller))
            } catch {
                refusal = error
            }
        }
        #expect(slow.count == (isAtOneAddress ? 50 : 67))
        #expect(refusal?.level == (isAtOneAddress ? .caller : .app))
        #expect(refusal?.error.error.code == "too_many_downloads" && refusal?.error.error.kind == .unavailable)
        let others = try (1...10).map { try monitor.begin(app: 2, for: try Self.caller("b", $0)) }
        #expect(others.count == 10)
        guard isAtOneAddress else { return }
        try monitor.begin(app: 1, for: try Self.caller("a", 2)).end()
    }

    /// Clients that go before their pieces were sent take nothing from the others.
    @Test func whatWasReservedAndNotSentIsGivenBack() async throws {
        var settings = PublishingSettings()
        settings.bandwidth = 1000
        let (monitor, caller) = (Self.monitor(settings), try Self.caller("a", 1))
        for _ in 0..<100 {
            let gone = try monitor.begin(app: 1, for: caller)
            _ = try? await gone.reserve(left: 100_000) { _ in throw CancellationError() }
        }
        let download = try monitor.begin(app: 1, for: caller)
        var waits: [Duration] = []
        let bytes = try await download.reserve(left: 100_000) { waits.append($0) }
        #expect(waits.isEmpty)
        download.sent(bytes)
        _ = try await download.reserve(left: 100_000) { waits.append($0) }
        #expect(waits.count == 1)
    }

    @Test func figuresOfAnAppAreKnownAfterTenSeconds() throws {
        let time = ManualTime()
        let monitor = Self.monitor(time: time)
        let download = try monitor.begin(app: 1, for: try Self.caller("a", 1))
        download.sent(5000)
        #expect(monitor.figures(app: 1) == nil)
        time.advance(by: .seconds(9))
        #expect(monitor.figures(app: 1) == nil)
        time.advance(by: .seconds(1))
        #expect(monitor.figures(app: 1) == DownloadFigures(open: 1, bytesPerSecond: 0))
        download.sent(5000)
        #expect(monitor.figures(app: 1) == DownloadFigures(open: 1, bytesPerSecond: 500))
        #expect(monitor.figures(app: 2) == DownloadFigures(open: 0, bytesPerSecond: 0))
        #expect(monitor.figures.bytesPerSecond == 500)
    }
}
