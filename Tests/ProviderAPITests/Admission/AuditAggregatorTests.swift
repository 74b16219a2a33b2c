import Foundation
import Testing

@testable import ProviderAPI

/// What becomes of refused requests in the audit.
@Suite struct RefusalMergerTests {
    private let key = UUID()
    private let start = ContinuousClock.now

    private func kind(_ number: Int = 0) -> AuditAggregator.Kind {
        AuditAggregator.Kind(action: "PUT /v1/apps/\(number)", status: 403)
    }

    @Test func whatRepeatsIsOneEntryWithACount() {
        var merger = AuditAggregator()
        #expect(merger.add(self.kind(), of: self.key, now: self.start) == .write(self.kind()))
        merger.wrote(self.kind(), as: 7, of: self.key)
        let steps = (2...100).map { _ in merger.add(self.kind(), of: self.key, now: self.start) }
        #expect(steps.filter { $0 != .nothing } == [2, 4, 8, 16, 32, 64].map { .count($0, entry: 7) })
        #expect(merger.takeOwed(now: self.start) == [7: 100])
        #expect(merger.takeOwed(now: self.start) == [:])
    }

    @Test func aMinuteLaterItIsAnotherEntry() {
        var merger = AuditAggregator()
        _ = merger.add(self.kind(), of: self.key, now: self.start)
        merger.wrote(self.kind(), as: 7, of: self.key)
        for _ in 0..<2 { _ = merger.add(self.kind(), of: self.key, now: self.start) }
        let later = self.start + AuditAggregator.window
        #expect(merger.add(self.kind(), of: self.key, now: later) == .write(self.kind()))
        #expect(merger.takeOwed(now: later) == [7: 3])
    }

    @Test func aKeyHasFewEntriesHoweverManyThingsItTries() {
        var merger = AuditAggregator()
        let written = (0..<1000).filter { number in
            guard case .write(let kind) = merger.add(self.kind(number), of: self.key, now: self.start) else {
                return false
            }
            merger.wrote(kind, as: Int64(number), of: self.key)
            return true
        }
        #expect(written.count == AuditAggregator.maximumKinds + 1)
        let owed = merger.takeOwed(now: self.start)
        #expect(owed.values.reduce(0, +) == 1000 - AuditAggregator.maximumKinds)
    }

    @Test func whatCouldNotBeWrittenIsTriedAgain() {
        var merger = AuditAggregator()
        _ = merger.add(self.kind(), of: self.key, now: self.start)
        merger.failed(self.kind(), of: self.key)
        #expect(merger.add(self.kind(), of: self.key, now: self.start) == .write(self.kind()))
    }
}
