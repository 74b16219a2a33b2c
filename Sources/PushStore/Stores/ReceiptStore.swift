package import Foundation
package import PushTypes

/// The receipts of notifications.
package protocol ReceiptStore: Sendable {
    /// Writes receipts with their counters, all in one transaction.
    /// - Parameter announce: Makes a block of events for webhooks from the receipts of one app that were accepted.
    /// - Returns: The results in the order of the batches and their entries, and whether events were added.
    func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @Sendable ([NewReceipt]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool)
    /// Returns the numbers of receipts of a notification, by event and action.
    func receiptCounts(of notification: UUID) async throws -> [ReceiptCount]
    /// Returns the receipts of a notification behind a place. Those of one installation follow each other.
    /// - Parameters:
    ///   - place: The place of the last one of the page before; `nil` at the beginning.
    ///   - limit: The most receipts.
    func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage
    /// Returns the place up to which the events of a gateway have been read; `nil` before the first time.
    func gatewayCursor(_ address: String) async throws -> GatewayCursor?
    /// Writes the place up to which the events of a gateway have been read.
    func setGatewayCursor(_ cursor: GatewayCursor, of address: String) async throws
}
