import NIOCore
import PushSupport
import Testing

/// The rate limiter of log lines.
@Suite struct LogLineLimiterTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test func linesOfOneKindAreCountedAfterTheFirst() {
        var lines = LogLineLimiter<String>(perMinute: 2)
        var now = Self.start
        #expect((0..<5).map { _ in lines.note("a", now: now) } == [0, 0, nil, nil, nil])
        #expect(lines.note("b", now: now) == 0)
        #expect(lines.takeOmitted(now: now).isEmpty)
        now = now + .minutes(1)
        #expect(lines.note("a", now: now) == 3)
        #expect((0..<3).map { _ in lines.note("a", now: now) } == [0, nil, nil])
        now = now + .minutes(1)
        let omitted = lines.takeOmitted(now: now)
        #expect(omitted.map(\.key) == ["a"] && omitted.map(\.count) == [2])
        #expect(lines.note("a", now: now) == 0)
    }

    @Test func theNumberOfKindsIsBounded() {
        var lines = LogLineLimiter<Int>(perMinute: 1)
        #expect((0..<1000).count { lines.note($0, now: Self.start) != nil } == 256)
    }
}
