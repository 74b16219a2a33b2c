import ProviderModel
import PushTesting
import Testing

@testable import PushStore

@Suite struct PageRangesTests {
    private let notification: NotificationRecord

    init() throws { self.notification = try .fixture(app: 1, to: .devices(.everyone)) }

    private func claim(_ number: Int64 = 1, after cursor: Int64 = 0, upTo end: Int64 = 1_000_000) -> ShardClaim {
        ShardClaim(
            notification: SharedNotification(self.notification),
            notificationNumber: number,
            shard: 0,
            zone: .any,
            cursor: cursor,
            end: end,
            isNarrow: false,
            fence: 1
        )
    }

    @Test func aPageIsOneReadUntilTheLogIsFoldedMeanwhile() {
        var ranges = PageRanges()
        #expect(ranges.end(of: self.claim()) == 1_000_000)
        ranges.completed(self.claim(), upTo: 1_000_000)
        #expect(ranges.end(of: self.claim()) == 1_000_000)
        ranges.interrupted(self.claim())
        #expect(ranges.end(of: self.claim(after: 50)) == 50 + 1024)
        #expect(ranges.end(of: self.claim(2)) == 1_000_000, "another notification")
    }

    @Test func rangesGrowUntilOneIsTheWholeShard() {
        var ranges = PageRanges()
        ranges.interrupted(self.claim())
        var (cursor, count) = (Int64(0), 0)
        while cursor < 1_000_000 {
            let end = ranges.end(of: self.claim(after: cursor))
            #expect(end > cursor)
            ranges.completed(self.claim(after: cursor), upTo: end)
            (cursor, count) = (end, count + 1)
        }
        #expect(count == 10)
        #expect(ranges.end(of: self.claim()) == 1_000_000)
    }

    /// However often the log is folded, some range is short enough.
    @Test func rangesShrinkToOneDevice() {
        var ranges = PageRanges()
        for _ in 0..<20 { ranges.interrupted(self.claim()) }
        #expect(ranges.end(of: self.claim(after: 7)) == 8)
        ranges.completed(self.claim(after: 7), upTo: 8)
        #expect(ranges.end(of: self.claim(after: 8)) == 10)
    }

    @Test func theLastIdsOverflowNothing() {
        var ranges = PageRanges()
        ranges.interrupted(self.claim())
        #expect(ranges.end(of: self.claim(after: .max - 1, upTo: .max)) == .max)
    }

    @Test func manyNotificationsTakeLittleMemory() {
        var ranges = PageRanges()
        for number in 0..<1000 { ranges.interrupted(self.claim(Int64(number))) }
        let kept = (0..<1000).filter { ranges.end(of: self.claim(Int64($0))) == 1024 }
        #expect((1...100).contains(kept.count))
    }
}
