import PushTesting
import Synchronization
import Testing

@testable import PushProvider

/// The order in which items that wait are written.
@Suite(.timeLimit(.patience)) struct WriteBatcherTests {
    private struct Item: Hashable, Sendable {
        var name: String
        var size = 0
        var app: Int64 = 0
    }

    /// Returns the names of the items of each batch after the first, during which all of `items` came.
    private func batches(of items: [Item], maximumSize: Int) async throws -> [[String]] {
        let (began, opening) = AsyncStream<Void>.makeStream()
        let (isOpen, open) = AsyncStream<Void>.makeStream()
        let batches = Mutex<[[String]]>([])
        let batcher = WriteBatcher<Item, String>(
            maximumSize: maximumSize,
            large: { $0.size > 0 ? .init(size: $0.size, app: $0.app) : nil }
        ) { items in
            let names = items.map(\.name)
            let isFirst = batches.withLock { batches in
                batches.append(names)
                return batches.count == 1
            }
            if isFirst {
                opening.finish()
                for await _ in isOpen {}
            }
            return names
        }
        async let first = batcher.commit(Item(name: "first"))
        for await _ in began {}
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (count, item) in zip(1..., items) {
                group.addTask { await batcher.commit(item) == item.name }
                try await eventually { batcher.waitingCount == count }
            }
            open.finish()
            for try await isOwn in group { #expect(isOwn) }
        }
        #expect(await first == "first")
        return batches.withLock { Array($0.dropFirst()) }
    }

    @Test func largeItemsTakeTurnsWithOthersAndTheirAppsWithEachOther() async throws {
        let items = [
            Item(name: "a1", size: 600, app: 1), Item(name: "one"), Item(name: "a2", size: 600, app: 1),
            Item(name: "a3", size: 600, app: 1), Item(name: "b1", size: 600, app: 2), Item(name: "two"),
        ]
        let batches = try await self.batches(of: items, maximumSize: 1000)
        #expect(batches == [["a1"], ["one", "two"], ["b1"], ["a2"], ["a3"]])
    }

    @Test func largeItemsShareABatchUpToTheMaximum() async throws {
        let items = [
            Item(name: "a1", size: 5000, app: 1), Item(name: "a2", size: 300, app: 1),
            Item(name: "a3", size: 300, app: 1), Item(name: "b1", size: 400, app: 2),
            Item(name: "b2", size: 500, app: 2),
        ]
        let batches = try await self.batches(of: items, maximumSize: 1000)
        #expect(batches == [["a1"], ["b1", "a2"], ["b2", "a3"]])
    }
}
