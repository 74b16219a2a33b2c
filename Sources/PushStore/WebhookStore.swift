package import Foundation
package import PushProtocol

/// Where events go, and which have gone.
package protocol WebhookStore: Sendable {
    func addWebhook(_ webhook: WebhookRecord) async throws
    func webhooks(app: Int64?) async throws -> [WebhookRecord]
    func webhook(_ id: UUID) async throws -> WebhookRecord?
    /// Whether it was there. Its cursor stays where a replay has put it back meanwhile.
    func updateWebhook(_ webhook: WebhookRecord, expectedCursor: Int64) async throws -> Bool
    func deleteWebhook(_ id: UUID) async throws -> Bool
    func eventBlocks(app: Int64, kinds: Set<WebhookRecord.Event>, after: Int64, limit: Int) async throws -> [EventBlock]
    /// The last block before this moment; 0 if there is none.
    func lastEventBlock(app: Int64, before: Timestamp) async throws -> Int64
    func forgetEvents(before: Timestamp) async throws -> Int
}
