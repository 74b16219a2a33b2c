package import Foundation
package import ProviderModel

extension SQLStore {
    package func detail(of notification: UUID) async throws -> NotificationDetail? {
        try await self.database.lookup { database in
            guard let record = try NotificationRow.fetch(notification, in: database) else { return nil }
            var detail = NotificationDetail(record)
            if record.progress.skipped > 0 {
                detail.skipCounts = try SkipTally.counts(of: notification, in: database)
            }
            if record.content.receipts != .none {
                detail.receiptCounts = try ReceiptRows(database: database).counts(of: notification)
            }
            return detail
        }
    }

    package func skipCounts(of notification: UUID) async throws -> [SkipCount] {
        try await self.database.lookup { try SkipTally.counts(of: notification, in: $0) }
    }

    package func outcomes(of notification: UUID, limit: Int) async throws -> NotificationOutcomes? {
        try await self.database.query { database in
            guard let record = try NotificationRow.fetch(notification, in: database) else { return nil }
            var outcomes = NotificationOutcomes(record)
            outcomes.deliveries = try DeliveryRows(database: database).deliveries(
                of: notification,
                state: nil,
                reason: nil,
                after: nil,
                limit: limit
            )
            if !record.hasEnded, case .devices(let audience) = record.audience {
                outcomes.devices = try DeviceRows(database: database).devices(
                    app: record.app,
                    audience: audience,
                    environment: record.environment,
                    kind: record.content.tokenKind,
                    after: 0,
                    limit: limit
                )
            }
            return outcomes
        }
    }
}
