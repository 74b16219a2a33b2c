import GRDB
package import PushSupport
import PushTypes

extension SQLiteStore {
    package func clockMark() async throws -> ClockMark? {
        try await self.database.read { database in
            guard let row = try database.row(sql: "SELECT * FROM clock"), let steady = row.time("steady")
            else { return nil }
            let agreed = Duration.milliseconds((row["agreed"] as Int64?) ?? 0)
            return ClockMark(steady: steady, claim: row.time("claim"), agreed: agreed)
        }
    }

    package func setClockMark(_ mark: ClockMark) async throws {
        let agreed = mark.agreed.components.seconds.multipliedReportingOverflow(by: 1000)
        let (steady, claim) = (mark.steady.milliseconds, mark.claim?.milliseconds)
        let sql = "INSERT OR REPLACE INTO clock (id, steady, claim, agreed) VALUES (1, ?, ?, ?)"
        try await self.database.run(sql: sql, [steady, claim, agreed.overflow ? 0 : agreed.partialValue])
    }

    package func settleWaiting(at clocks: ClockReading) async throws {
        let lastHour = clocks.steady.advanced(by: LongestWait.hours).milliseconds
        let soon = clocks.steady.advanced(by: LongestWait.backoff).milliseconds
        let lastZone = clocks.wall.advanced(by: LongestWait.zone).milliseconds
        let shards = "UPDATE shard SET notBefore = ?1 WHERE lane IN (0, 1) AND isDone = 0 AND notBefore > ?1"
        let retries = """
            UPDATE retry SET dueAt = ? WHERE lane IN (0, 1) AND dueAt > ? AND dueAt < ? AND lease IS NULL
            """
        // The end of a wave may be later: the pacer decides again then.
        let notifications = """
            UPDATE notification SET nextPageAt = ?1
            WHERE state IN ('accepted', 'sending', 'paused') AND finishedAt IS NULL AND nextPageAt > ?1
            """
        try await self.database.write { database in
            try database.run(sql: shards, lastZone)
            try database.run(sql: retries, soon, lastHour, RetryQueue.afterOthers)
            try database.run(sql: notifications, soon)
        }
    }
}
