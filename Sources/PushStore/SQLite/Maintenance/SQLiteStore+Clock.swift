import GRDB
package import PushSupport
import PushTypes

extension SQLiteStore {
    package func clockMark() async throws -> ClockMark? {
        try await self.database.read { database in
            guard let row = try Row.fetchOne(database, sql: "SELECT * FROM clock"), let steady = row.time("steady")
            else { return nil }
            let agreed = Duration.milliseconds((row["agreed"] as Int64?) ?? 0)
            return ClockMark(steady: steady, claim: row.time("claim"), agreed: agreed)
        }
    }

    package func setClockMark(_ mark: ClockMark) async throws {
        let agreed = mark.agreed.components.seconds.multipliedReportingOverflow(by: 1000)
        try await self.database.execute(
            "INSERT OR REPLACE INTO clock (id, steady, claim, agreed) VALUES (1, ?, ?, ?)",
            [mark.steady.milliseconds, mark.claim?.milliseconds, agreed.overflow ? 0 : agreed.partialValue]
        )
    }

    package func settleWaiting(at clocks: ClockReading) async throws {
        let lastHour = clocks.steady.advanced(by: LongestWait.hours)
        let soon = clocks.steady.advanced(by: LongestWait.backoff)
        let lastZone = clocks.wall.advanced(by: LongestWait.zone)
        try await self.database.write { database in
            try database.execute(
                sql: "UPDATE shard SET notBefore = ?1 WHERE lane IN (0, 1) AND isDone = 0 AND notBefore > ?1",
                arguments: [lastZone.milliseconds]
            )
            try database.execute(
                sql: "UPDATE retry SET dueAt = ? WHERE lane IN (0, 1) AND dueAt > ? AND dueAt < ? AND lease IS NULL",
                arguments: [soon.milliseconds, lastHour.milliseconds, RetryQueue.afterOthers]
            )
            // The end of a wave may be later: the pacer decides again then.
            try database.execute(
                sql: """
                    UPDATE notification SET nextPageAt = ?1
                    WHERE state IN ('accepted', 'sending', 'paused') AND finishedAt IS NULL AND nextPageAt > ?1
                    """,
                arguments: [soon.milliseconds]
            )
        }
    }
}
