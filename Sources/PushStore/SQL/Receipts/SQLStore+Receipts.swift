package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func addReceipts(
        _ batches: [ReceiptBatch],
        now: Timestamp,
        announce: @Sendable ([NewReceipt]) -> Data
    ) async throws -> (results: [[ReceiptResult]], hasEvents: Bool) {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            var transaction = ReceiptTransaction(now: now, masterKey: masterKey, database: database)
            let results = try batches.map { try transaction.write($0) }
            return (results, try transaction.finish(announce: announce))
        }
    }

    package func receiptCounts(of notification: UUID) async throws -> [ReceiptCount] {
        try await self.database.lookup { try ReceiptRows(database: $0).counts(of: notification) }
    }

    package func receipts(of notification: UUID, after place: ReceiptPlace?, limit: Int) async throws -> ReceiptPage {
        let sql = """
            SELECT subject, event, id, action, source, at, receivedAt FROM receipt
            WHERE notification = (SELECT number FROM notification WHERE id = ?) AND (subject, event, id) > (?, ?, ?)
            ORDER BY subject, event, id LIMIT ?
            """
        let after = place ?? ReceiptPlace(subject: .min, event: .min, id: .min)
        let arguments: SQLArguments = [notification.uuidString, after.subject, after.event, after.id, limit]
        return try await self.database.query { database in
            let rows = try database.rows(sql: sql, arguments)
            var next: ReceiptPlace?
            if rows.count >= limit, let last = rows.last, let subject = last["subject"] as Int64?,
                let event = last["event"] as Int64?, let id = last["id"] as Int64?
            {
                next = ReceiptPlace(subject: subject, event: event, id: id)
            }
            return ReceiptPage(try rows.compactMap(ReceiptRows.receipt), next: next)
        }
    }

    package func gatewayCursor(_ address: String) async throws -> GatewayCursor? {
        let sql = "SELECT position, at FROM gatewayCursor WHERE address = ?"
        return try await self.database.read { database in
            try database.row(sql: sql, [address]).map { row in
                GatewayCursor(position: row["position"] ?? 0, at: row.time("at"))
            }
        }
    }

    package func setGatewayCursor(_ cursor: GatewayCursor, of address: String) async throws {
        try await self.database.write { database in
            let values: ColumnValues = ["position": cursor.position, "at": cursor.at?.milliseconds]
            try database.replace(in: "gatewayCursor", key: ["address": address], values)
        }
    }
}

struct ReceiptRows {
    let database: any SQLConnection

    func counts(of notification: UUID) throws -> [ReceiptCount] {
        let sql = """
            SELECT event, action, uniqueCount, total FROM receiptCount
            WHERE notification = (SELECT number FROM notification WHERE id = ?) ORDER BY event, action
            """
        return try self.database.rows(sql: sql, [notification.uuidString]).compactMap { row in
            // Events of newer versions are skipped.
            guard let event = row.value("event") as ReceiptEvent?, let action = row["action"] as String?
            else { return nil }
            return ReceiptCount(
                event: event,
                action: action.isEmpty ? nil : action,
                unique: row["uniqueCount"] ?? 0,
                total: row["total"] ?? 0
            )
        }
    }

    /// Returns the receipts of one recipient of a notification, in chronological order.
    func receipts(of notification: Int64, subject: Int64) throws -> [ReceiptRecord] {
        let sql = """
            SELECT subject, event, action, source, at, receivedAt FROM receipt
            WHERE notification = ? AND subject = ?
            """
        return try self.database.rows(sql: sql, [notification, subject]).compactMap(Self.receipt)
            .sorted { ($0.at, $0.event.rawValue) < ($1.at, $1.event.rawValue) }
    }

    /// Decodes a receipt, or returns `nil` if its event or source is one of a newer version.
    fileprivate static func receipt(_ row: SQLRow) throws -> ReceiptRecord? {
        guard let subject = row["subject"] as Int64?, let code = row["event"] as Int64?, let at = row.time("at"),
            let receivedAt = row.time("receivedAt")
        else { throw DamagedRow(table: "receipt") }
        guard let event = ReceiptEvent(rawValue: code), let source = row.value("source") as ReceiptSource?
        else { return nil }
        return ReceiptRecord(
            event: event,
            action: row["action"],
            source: source,
            at: at,
            receivedAt: receivedAt,
            device: subject > 0 ? subject : nil,
            subject: subject
        )
    }
}
