import PushSupport
import PushTesting
import Testing

@Suite(.timeLimit(.patience)) struct WithTimeLimitTests {
    private struct Failure: Error {}

    /// Work that ends with its cancellation only.
    private static func endless() async throws -> Int {
        try await OneShotValue<Int>().valueUnlessCancelled()
    }

    @Test func aResultInTimeIsReturned() async throws {
        #expect(try await withTimeLimit(.patience) { 7 } == 7)
    }

    @Test func anErrorInTimeIsThrown() async {
        await #expect(throws: Failure.self) {
            try await withTimeLimit(.patience) { () async throws -> Int in throw Failure() }
        }
    }

    @Test func workThatTakesLongerIsCancelled() async throws {
        #expect(try await withTimeLimit(.milliseconds(1), Self.endless) == nil)
    }

    @Test func itEndsWithTheCancellationOfItsTask() async {
        let task = Task { try await withTimeLimit(.patience, Self.endless) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
