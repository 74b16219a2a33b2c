package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func certificates() async throws -> [StoredCertificate] {
        let masterKey = self.masterKey
        return try await self.database.read { database in
            let sql = """
                SELECT credential.*, bundleID FROM credential JOIN app ON app.id = credential.app
                WHERE kind != 'key' ORDER BY bundleID, environment
                """
            return try database.rows(sql: sql).compactMap { row in
                guard let app = row["app"] as Int64?, let bundleID = row.topic("bundleID"),
                    let environment = row.environment("environment"), let seal = row["sealed"] as Data?,
                    let credential = try? Self.credential(row, app: app, environment: environment, masterKey)
                else { return nil }
                return StoredCertificate(
                    app: app,
                    bundleID: bundleID,
                    environment: environment,
                    credential: credential,
                    seal: seal,
                    announcedStage: row["announcedStage"]
                )
            }
        }
    }

    package func announceEnd(
        of certificate: StoredCertificate,
        stage: Int,
        event: Data,
        now: Timestamp
    ) async throws -> Bool {
        let sql = """
            UPDATE credential SET announcedStage = ?1
            WHERE app = ?2 AND environment = ?3 AND sealed = ?4 AND (announcedStage IS NULL OR announcedStage > ?1)
            """
        let (app, environment) = (certificate.app, certificate.environment.code)
        return try await self.database.write { database in
            let arguments: StatementArguments = [stage, app, environment, certificate.seal]
            guard try database.run(sql: sql, arguments) > 0 else { return false }
            guard try Self.wants(.credential, app: app, in: database) else { return true }
            let kind = WebhookRecord.Event.credential.rawValue
            let values: Columns = ["app": app, "kind": kind, "at": now.milliseconds, "events": event]
            try database.insert(into: "eventBlock", values)
            return true
        }
    }

    package func campaigns(after newest: Int64?, and open: [Int64], limit: Int) async throws -> CampaignReading {
        try await self.database.read { database in
            let columns = "SELECT number, id, app, state, startedAt FROM notification"
            guard let newest else {
                let sql = "\(columns) WHERE finishedAt IS NULL AND lane = 1 ORDER BY number DESC LIMIT ?"
                let last = try database.integer(sql: "SELECT max(number) FROM notification") ?? 0
                return CampaignReading(try database.rows(sql: sql, [limit]).compactMap(Self.campaign), newest: last)
            }
            // By number: the index of campaigns has all that there ever were.
            let sql = "\(columns) NOT INDEXED WHERE number > ? AND lane = 1 ORDER BY number LIMIT ?"
            let new = try database.rows(sql: sql, [newest, limit])
            let last = try database.integer(sql: "SELECT max(number) FROM notification") ?? newest
            let known = try open.compactMap { try database.row(sql: "\(columns) WHERE number = ?", [$0]) }
            return CampaignReading(
                (known + new).compactMap(Self.campaign),
                newest: new.count < limit ? max(newest, last) : (new.last?["number"] as Int64?) ?? newest
            )
        }
    }

    /// Reads a campaign's row; `nil` for one that cannot be read.
    private static func campaign(_ row: Row) -> CampaignState? {
        guard let number = row["number"] as Int64?, let id = row.uuid("id"), let app = row["app"] as Int64?,
            let state = row.value("state") as NotificationRecord.State?
        else { return nil }
        let hasStarted = row["startedAt"] as Int64? != nil
        return CampaignState(number: number, id: id, app: app, state: state, hasStarted: hasStarted)
    }

    /// The most token events that are counted at once.
    private static let countedAtOnce: Int64 = 100_000

    package func tokenEvents(after id: Int64?) async throws -> (counts: [TokenEventCount], last: Int64) {
        try await self.database.read { database in
            let last = try database.integer(sql: "SELECT max(id) FROM tokenEvent") ?? 0
            guard let id, id < last else { return ([], max(last, id ?? 0)) }
            let end = min(last, id + Self.countedAtOnce)
            let sql = """
                SELECT tokenEvent.app, bundleID, environment, action, reason, count(*) AS count
                FROM tokenEvent LEFT JOIN app ON app.id = tokenEvent.app
                WHERE tokenEvent.id > ? AND tokenEvent.id <= ? GROUP BY tokenEvent.app, environment, action, reason
                """
            let counts = try database.rows(sql: sql, [id, end]).compactMap { row -> TokenEventCount? in
                guard let app = row["app"] as Int64?, let environment = row.environment("environment"),
                    let action = row.value("action") as TokenEventRecord.Action?
                else { return nil }
                return TokenEventCount(
                    app: row["bundleID"] as String? ?? "\(app)",
                    environment: environment,
                    action: action,
                    reason: row["reason"],
                    count: row["count"]
                )
            }
            return (counts, end)
        }
    }
}
