import PushTesting
import Testing

@testable import PushDevice

/// The callers that wait for a response.
@Suite(.timeLimit(.patience)) struct ResponseWaitersTests {
    private let waiters = ResponseWaiters<String, Int>()

    @Test func theResponseReachesItsOwnKeyOnly() async throws {
        let (registered, continuation) = AsyncStream.makeStream(of: Void.self)
        let one = Task { try await self.response(to: "one") { continuation.yield() } }
        async let two = self.response(to: "two") { continuation.yield() }
        await Self.wait(for: 2, registered)
        self.waiters.resume("two", with: .success(2))
        #expect(try await two == 2)
        self.waiters.resume("one", with: .failure(.tooManyChannels))
        await #expect(throws: DeviceError.tooManyChannels) { try await one.value }
    }

    @Test func aCancelledCallerLeavesTheOthersWaiting() async throws {
        let (registered, continuation) = AsyncStream.makeStream(of: Void.self)
        async let stays = self.response(to: "one") { continuation.yield() }
        let leaves = Task { try await self.response(to: "one") { continuation.yield() } }
        await Self.wait(for: 2, registered)
        leaves.cancel()
        await #expect(throws: CancellationError.self) { try await leaves.value }
        self.waiters.resume("one", with: .success(1))
        #expect(try await stays == 1)
    }

    @Test func theEndReachesAllCallersAlsoLaterOnes() async throws {
        let (registered, continuation) = AsyncStream.makeStream(of: Void.self)
        let early = Task { try await self.response(to: "one") { continuation.yield() } }
        await Self.wait(for: 1, registered)
        self.waiters.end()
        await #expect(throws: CancellationError.self) { try await early.value }
        await #expect(throws: CancellationError.self) {
            try await self.response(to: "one") { Issue.record("nothing may be requested after the end") }
        }
    }

    @Test func aCallerDoesNotWaitLongerThanItsTimeout() async {
        await #expect(throws: DeviceError.tokenTimeout("one")) {
            try await self.waiters.response(to: "one", timeout: .milliseconds(1), timeoutError: .tokenTimeout("one")) {}
        }
    }

    private func response(to key: String, request: @escaping @Sendable () -> Void) async throws -> Int {
        try await self.waiters.response(
            to: key,
            timeout: .patience,
            timeoutError: .channelTimeout(key),
            request: request
        )
    }

    private static func wait(for count: Int, _ registered: AsyncStream<Void>) async {
        var missing = count
        for await _ in registered {
            missing -= 1
            if missing == 0 { return }
        }
    }
}
