import PushSupport
import PushTesting
import Synchronization
import Testing

/// A value for which many wait.
@Suite(.timeLimit(.patience)) struct OneShotValueTests {
    /// A reader that goes leaves the others, and those that come later, where they are.
    @Test(arguments: [true, false]) func allReadersButTheCancelledHaveTheValue(isCancelledFirst: Bool) async throws {
        let value = OneShotValue<Int>()
        let begun = Mutex(0)
        let read: @Sendable () async throws -> Int = {
            begun.withLock { $0 += 1 }
            return try await value.valueUnlessCancelled()
        }
        let cancelled = Task { try await read() }
        if isCancelledFirst { cancelled.cancel() }
        let others = (0..<100).map { _ in Task { try await read() } }
        try await eventually { begun.withLock({ $0 }) >= 101 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(value.resolve(.success(7)))
        #expect(!value.resolve(.success(8)), "there is one")
        for other in others { #expect(try await other.value == 7) }
        #expect(try await value.value == 7)
    }
}
