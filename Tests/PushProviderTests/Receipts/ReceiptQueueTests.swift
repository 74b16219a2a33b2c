import Foundation
import ProviderModel
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The order in which receipts are written.
@Suite struct ReceiptQueueTests {
    private static func batch(_ count: Int) -> ReceiptBatch {
        let receipt = IncomingReceipt(id: UUID(), event: .shown, at: Vectors.issuedAt)
        let entry = ReceiptBatch.Entry(receipt, of: .notification(UUID()))
        return ReceiptBatch(from: .gateway, privacy: .device, Array(repeating: entry, count: count))
    }

    /// Adds batches of apps with numbers of receipts, whose places are their tickets.
    private static func add(_ batches: [(app: String, count: Int)], to queue: inout ReceiptQueue<Int>) {
        for (place, batch) in batches.enumerated() {
            queue.add(Self.batch(batch.count), of: batch.app, ticket: place)
        }
    }

    @Test func theBatchesOfAnAppKeepTheirOrder() {
        var queue = ReceiptQueue<Int>(transaction: 3)
        Self.add(Array(repeating: ("a", 1), count: 10), to: &queue)
        var transactions: [[Int]] = []
        while !queue.isEmpty { transactions.append(queue.takeNext().map(\.ticket)) }
        #expect(transactions == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]])
    }

    /// An app with a few receipts does not wait behind all of another.
    @Test func appsTakeTurns() {
        var queue = ReceiptQueue<Int>(transaction: 4)
        Self.add(Array(repeating: ("a", 1), count: 100) + [("b", 1), ("b", 1)], to: &queue)
        let first = queue.takeNext().map(\.ticket)
        let second = queue.takeNext().map(\.ticket)
        #expect(first == [0, 100, 1, 101] && second == [2, 3, 4, 5])
    }

    @Test func aTransactionEndsWithTheBatchThatFillsIt() {
        var queue = ReceiptQueue<Int>(transaction: 5)
        Self.add(Array(repeating: ("a", 3), count: 4), to: &queue)
        let first = queue.takeNext().map(\.ticket)
        #expect(first == [0, 1] && !queue.isEmpty)
    }
}
