import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// The results of pages, and what becomes of those that cannot be written.
@Suite(.timeLimit(.patience)) struct ResultWriterTests {
    private func writer(_ store: ScriptedDispatchStore) -> ResultWriter {
        ResultWriter(
            store: store,
            pause: .milliseconds(1),
            events: WakeSignal(),
            metrics: DispatchMetrics(),
            time: ManualTime(),
            logger: silentLogger
        )
    }

    private func numbers(_ store: ScriptedDispatchStore) -> [[Int64]] {
        store.transactions.withLock { $0.map { $0.pages.map(\.notificationNumber) } }
    }

    private let results = [PageResult(notificationNumber: 1), PageResult(notificationNumber: 2)]

    /// It is not tried again and again, the other page is written, and nothing more is sent.
    @Test func whatBelongsToSomethingRemovedIsNotTriedAgain() async throws {
        let store = ScriptedDispatchStore { writes in
            let isLost = writes.pages.contains { $0.notificationNumber == 2 && $0.pauses == nil }
            return isLost ? StoreError.ownerRemoved(.notification) : nil
        }
        #expect(try await self.writer(store).write(self.results) == [.inProgress, .stopped])
        #expect(self.numbers(store) == [[1, 2], [1], [2], [2]])
        let pause = store.transactions.withLock { $0.last?.pages.first?.pauses }
        #expect(pause?.hasPrefix("its results could not be written") == true)
    }

    @Test func whatCannotBeWrittenNowIsTriedAgain() async throws {
        let failures = Mutex(2)
        let store = ScriptedDispatchStore { _ in
            let isFull = failures.withLock { left in
                left -= 1
                return left >= 0
            }
            return isFull ? StoreError.cannotWrite(why: "full") : nil
        }
        #expect(try await self.writer(store).write(self.results) == [.inProgress, .inProgress])
        #expect(self.numbers(store) == [[1, 2], [1, 2], [1, 2]])
    }
}
