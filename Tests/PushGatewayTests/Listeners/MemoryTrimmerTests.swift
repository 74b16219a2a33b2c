import Testing

@testable import PushGateway

@Suite struct FreedMemoryTests {
    @Test func memoryIsGivenBackOnceForAWaveOfClosedConnections() {
        var count = MemoryTrimmer.Count()
        let threshold = MemoryTrimmer.Count.threshold
        let decisions = (0..<threshold * 3).map { _ in count.connectionClosed() }
        #expect(decisions.filter { $0 }.count == 1)
        #expect(decisions.firstIndex(of: true) == threshold - 1)
        count.willTrim()
        let later = (0..<threshold).map { _ in count.connectionClosed() }
        #expect(later.firstIndex(of: true) == threshold - 1)
    }
}
