import Foundation
import ProviderModel
import PushProvider
import PushStore
import PushTesting
import PushTypes
import Synchronization

/// A store of receipts in memory that records its transactions.
final class RecordingReceiptStore: ReceiptStore {
    let transactions = Mutex<[[ReceiptBatch]]>([])
    /// Lets the first transaction end, if the store was not open from the start.
    let gate = WakeSignal()
    let fails = Mutex(false)
    private let cursor = Mutex<GatewayCursor?>(nil)
    private let isOpen: Bool
    /// Runs in each transaction.
    private let onWrite: @Sendable () -> Void

    init(isOpen: Bool = true, onWrite: @escaping @Sendable () -> Void = {}) {
        (self.isOpen, self.onWrite) = (isOpen, onWrite)
    }

    func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @escaping @Sendable ([NewReceipt]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool) {
        let isFirst = self.transactions.withLock {
            $0.append(batches)
            return $0.count == 1
        }
        self.onWrite()
        if isFirst, !self.isOpen { _ = await self.gate.wait(atMost: .patience) }
        if self.fails.withLock({ $0 }) { throw StoreError.cannotWrite(why: "full") }
        return (batches.map { $0.entries.map { _ in .accepted } }, false)
    }

    func receiptCounts(of notification: UUID) async throws -> [ReceiptCount] { [] }
    func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage {
        ReceiptPage([], next: nil)
    }
    func gatewayCursor(_ address: String) async throws -> GatewayCursor? { self.cursor.withLock(\.self) }
    func setGatewayCursor(_ cursor: GatewayCursor, of address: String) async throws {
        self.cursor.withLock { $0 = cursor }
    }
}
