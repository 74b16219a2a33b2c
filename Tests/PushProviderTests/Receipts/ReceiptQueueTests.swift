import Foundation
import PushStore
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The order in which receipts are written, and the bounds of those that wait.
@Suite struct ReceiptQueueTests {
    private static func queue(waiting: Int = 1000, ofApp: Int = 1000, transaction: Int = 1000) -> ReceiptQueue<Int> {
        var limits = ReceiptWriter.Limits()
        (limits.waiting, limits.waitingOfApp, limits.transaction) = (waiting, ofApp, transaction)
        return ReceiptQueue(limits: limits)
    }

    private static func batch(_ count: Int) -> ReceiptBatch {
        let receipt = Receipt(id: UUID(), event: .shown, at: Vectors.issuedAt)
        let entry = ReceiptBatch.Entry(receipt, of: .notification(UUID()))
        return ReceiptBatch(from: .gateway, privacy: .device, Array(repeating: entry, count: count))
    }

    /// Adds batches of apps with numbers of receipts, whose places are their tickets.
    /// - Returns: The places of those that were added.
    private static func add(_ batches: [(app: String, count: Int)], to queue: inout ReceiptQueue<Int>) -> [Int] {
        batches.indices.filter { queue.add(Self.batch(batches[$0].count), of: batches[$0].app, ticket: $0) }
    }

    @Test func theBatchesOfAnAppKeepTheirOrder() {
        var queue = Self.queue(transaction: 3)
        let added = Self.add(Array(repeating: ("a", 1), count: 10), to: &queue)
        var transactions: [[Int]] = []
        while !queue.isEmpty { transactions.append(queue.takeNext().map(\.ticket)) }
        #expect(added == Array(0..<10))
        #expect(transactions == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]])
        #expect(queue.count == 0)
    }

    /// An app with a few receipts does not wait behind all of another.
    @Test func appsTakeTurns() {
        var queue = Self.queue(transaction: 4)
        let added = Self.add(Array(repeating: ("a", 1), count: 100) + [("b", 1), ("b", 1)], to: &queue)
        let first = queue.takeNext().map(\.ticket)
        let second = queue.takeNext().map(\.ticket)
        #expect(added.count == 102)
        #expect(first == [0, 100, 1, 101] && second == [2, 3, 4, 5])
    }

    @Test func aTransactionEndsWithTheBatchThatFillsIt() {
        var queue = Self.queue(transaction: 5)
        _ = Self.add(Array(repeating: ("a", 3), count: 4), to: &queue)
        let first = queue.takeNext().map(\.ticket)
        #expect(first == [0, 1] && queue.count == 6)
    }

    @Test func noAppFillsTheQueue() {
        var queue = Self.queue(waiting: 10, ofApp: 4)
        let added = Self.add([("a", 4), ("a", 1), ("b", 4), ("c", 3), ("c", 2)], to: &queue)
        let taken = queue.takeNext().map(\.ticket)
        let again = Self.add([("a", 4)], to: &queue)
        #expect(added == [0, 2, 4] && taken == added && again == [0])
    }
}
