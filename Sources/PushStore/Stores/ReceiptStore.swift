package import Foundation
package import PushTypes

/// The receipts of notifications.
package protocol ReceiptStore: Sendable {
    /// Sets the most that apps may tell of the app's notifications, where these say nothing else.
    func setReceipts(_ privacy: ReceiptPrivacy, app: Int64) async throws
    /// Writes receipts with their counters, all in one transaction.
    /// - Parameter announce: Makes a block of events for webhooks from the receipts of one app that were accepted.
    /// - Returns: The results in the order of the batches and their entries, and whether events were added.
    func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @Sendable ([ReceiptNews]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool)
    /// Returns the numbers of receipts of a notification, by event and action.
    func receiptCounts(of notification: UUID) async throws -> [ReceiptCount]
    /// Returns the receipts of a notification, beginning at a place. Those of one installation follow each other.
    func receipts(of notification: UUID, from place: ReceiptPlace, limit: Int) async throws -> [ReceiptRecord]
    /// Returns the place up to which the events of a gateway have been read; `nil` before the first time.
    func gatewayPosition(_ address: String) async throws -> Int64?
    /// Writes the place up to which the events of a gateway have been read.
    func setGatewayPosition(_ position: Int64, of address: String) async throws
}
