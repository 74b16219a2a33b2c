import Foundation
import Testing

@testable import ProviderAPI

/// Failed requests in the audit.
@Suite struct AuditAggregatorTests {
    private let key = UUID()
    private let start = ContinuousClock.now

    private func kind(_ number: Int = 0) -> AuditAggregator.Kind {
        AuditAggregator.Kind(action: "PUT /v1/apps/\(number)", status: 403)
    }

    @Test func whatRepeatsIsOneEntryWithACount() {
        var aggregator = AuditAggregator()
        #expect(aggregator.add(self.kind(), of: self.key, now: self.start) == .write(self.kind()))
        aggregator.written(self.kind(), as: 7, of: self.key)
        let steps = (2...100).map { _ in aggregator.add(self.kind(), of: self.key, now: self.start) }
        #expect(steps.filter { $0 != .none } == [2, 4, 8, 16, 32, 64].map { .count($0, entry: 7) })
        #expect(aggregator.takePending(now: self.start) == [7: 100])
        #expect(aggregator.takePending(now: self.start) == [:])
    }

    @Test func aMinuteLaterItIsAnotherEntry() {
        var aggregator = AuditAggregator()
        _ = aggregator.add(self.kind(), of: self.key, now: self.start)
        aggregator.written(self.kind(), as: 7, of: self.key)
        for _ in 0..<2 { _ = aggregator.add(self.kind(), of: self.key, now: self.start) }
        let later = self.start + AuditAggregator.window
        #expect(aggregator.add(self.kind(), of: self.key, now: later) == .write(self.kind()))
        #expect(aggregator.takePending(now: later) == [7: 3])
    }

    @Test func aKeyHasFewEntriesHoweverManyThingsItTries() {
        var aggregator = AuditAggregator()
        let written = (0..<1000).filter { number in
            guard case .write(let kind) = aggregator.add(self.kind(number), of: self.key, now: self.start) else {
                return false
            }
            aggregator.written(kind, as: Int64(number), of: self.key)
            return true
        }
        #expect(written.count == AuditAggregator.maximumKinds + 1)
        let pending = aggregator.takePending(now: self.start)
        #expect(pending.values.reduce(0, +) == 1000 - AuditAggregator.maximumKinds)
    }

    @Test func whatCouldNotBeWrittenIsTriedAgain() {
        var aggregator = AuditAggregator()
        _ = aggregator.add(self.kind(), of: self.key, now: self.start)
        aggregator.writeFailed(self.kind(), of: self.key)
        #expect(aggregator.add(self.kind(), of: self.key, now: self.start) == .write(self.kind()))
    }
}
