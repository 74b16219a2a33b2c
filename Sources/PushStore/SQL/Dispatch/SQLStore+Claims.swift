package import Foundation
package import ProviderModel
package import PushSupport
package import PushTypes

extension SQLStore {
    package func due(now: Timestamp, limit: Int, excluding excluded: Set<Int64>) async throws -> [NotificationRecord] {
        let (records, damaged) = try await self.database.read { database in
            var damaged: [Int64] = []
            let sql = """
                SELECT * FROM notification
                WHERE state = 'scheduled' AND startsAt <= ? AND \(AppRows.noneOf(excluded)) ORDER BY startsAt LIMIT ?
                """
            let records = try database.rows(sql: sql, [now.milliseconds, limit], isKept: false).compactMap { row in
                try NotificationRow.readable(row, orElse: { damaged.append($0) }) {
                    try NotificationRow.record($0, in: database)
                }
            }
            return (records, damaged)
        }
        if !damaged.isEmpty { try await self.database.write { try NotificationRow.setAside(damaged, in: $0) } }
        return records
    }

    package func open(_ notification: UUID, shards: [ShardPlan], recipients: Int, now: Timestamp) async throws {
        try await self.database.write { database in
            let sql = "SELECT * FROM notification WHERE id = ? AND state = 'scheduled'"
            guard let row = try database.row(sql: sql, [notification.uuidString]), let number = row["number"] as Int64?
            else { return }
            var record = try NotificationRow.record(row, in: database)
            var recipients = recipients
            if case .tokens = record.audience {
                // An erased token keeps its row in `target`, and is skipped.
                recipients = try database.count(sql: "SELECT count(*) FROM target WHERE notification = ?", [number])
            }
            record.progress.recipients = recipients
            let update = "UPDATE notification SET state = 'accepted', recipients = ? WHERE number = ?"
            try database.run(sql: update, [recipients, number])
            try Shards.add(shards, to: record, number: number, now: now, in: database)
            // A notification with an empty audience has no page that would finish it.
            try NotificationCompletion.finishIfComplete(number, now: now, in: database)
        }
    }

    package func claim(
        lane: NotificationRecord.Lane,
        at clocks: ClockReading,
        until: Timestamp,
        limit: Int,
        from filter: ClaimFilter
    ) async throws -> [ShardClaim] {
        let owner = try await self.owner.number(self.database)
        let expiry = self.database.isShared ? nil : clocks.steady
        // Most calls find nothing, and need not wait for the writer.
        let isThereAny = try await self.database.read { database in
            try !Leases.lost(owner: owner, held: filter.held, now: expiry, in: database).isEmpty
                || !DueShards.rows(lane, at: clocks, limit: 1, from: filter, in: database).isEmpty
        }
        guard isThereAny else { return [] }
        return try await self.database.writeLedger { database in
            try Leases.releaseLost(owner: owner, held: filter.held, now: expiry, in: database)
            var damaged: [Int64] = []
            var claims = try DueShards.rows(lane, at: clocks, limit: limit, from: filter, in: database)
                .compactMap { try NotificationRow.readable($0, orElse: { damaged.append($0) }, DueShards.claim) }
            try NotificationRow.setAside(damaged, in: database)
            for index in claims.indices where try DueShards.lock(claims[index], in: database) {
                let (claim, fence) = (claims[index], try Leases.take(owner: owner, until: until, in: database))
                let sql = "UPDATE shard SET lease = ? WHERE notification = ? AND number = ?"
                try database.run(sql: sql, fence, claim.notificationNumber, claim.shard)
                claims[index].fence = fence
            }
            return claims.filter { $0.fence != 0 }
        }
    }

    package func maySend(_ claim: ShardClaim) async throws -> Bool {
        let owner = try await self.owner.number(self.database)
        let sql = """
            SELECT 1 FROM shard CROSS JOIN notification ON notification.number = shard.notification
            WHERE shard.notification = ? AND shard.number = ? AND shard.lease = ? AND cursor = ? AND isDone = 0
                AND EXISTS (SELECT 1 FROM lease WHERE fence = shard.lease AND owner = ?)
                AND state IN ('accepted', 'sending') AND \(AppRows.isNotStopped)
            """
        return try await self.database.read { database in
            let statement = try database.prepare(sql)
            defer { statement.reset() }
            statement.bind(claim.notificationNumber, claim.shard, claim.fence, claim.cursor, owner)
            return try statement.step()
        }
    }

    package func release(_ claims: [ShardClaim]) async throws {
        try await self.database.writeLedger { database in
            try database.lock(.exclusive, "notification", "number", claims.lazy.map(\.notificationNumber))
            for claim in claims { try Leases.release(claim.notificationNumber, claim.shard, claim.fence, in: database) }
            for fence in Set(claims.map(\.fence)) { try Leases.end(fence, in: database) }
        }
    }

    package func nextDue(
        lane: NotificationRecord.Lane,
        after: Timestamp,
        at clocks: ClockReading
    ) async throws -> Timestamp? {
        // The offset from the wall clock to the steady clock.
        let shift = clocks.steady.milliseconds - clocks.wall.milliseconds
        let sql = """
            SELECT min(at) FROM (
                SELECT min(max(shard.notBefore + ?3, nextPageAt)) AS at
                FROM shard JOIN notification ON notification.number = shard.notification
                WHERE shard.lane = ?1 AND isDone = 0 AND lease IS NULL AND \(DueShards.isNotTooEarly)
                    AND state IN ('accepted', 'sending') AND \(AppRows.isNotStopped)
                    AND max(shard.notBefore + ?3, nextPageAt) > ?2
                UNION ALL
                SELECT * FROM (
                    SELECT dueAt FROM retry JOIN notification ON notification.number = retry.notification
                    WHERE retry.lane = ?1 AND dueAt > ?2 AND dueAt < \(RetryQueue.afterOthers) AND lease IS NULL
                        AND \(RetryQueue.mayRetry)
                    ORDER BY dueAt LIMIT 1) AS retries) AS due
            """
        return try await self.database.read {
            try $0.time(sql: sql, [lane.rawValue, after.milliseconds, shift])
        }
    }

    package func nextOpening(excluding excluded: Set<Int64>) async throws -> Timestamp? {
        let sql = "SELECT min(startsAt) FROM notification WHERE state = 'scheduled' AND \(AppRows.noneOf(excluded))"
        return try await self.database.read { try $0.time(sql: sql, isKept: false) }
    }
}

private enum DueShards {
    /// The SQL condition that excludes the shard of the ``ShardPlan/Zone/remainder`` until all others have finished.
    static let isNotTooEarly = """
        (zoneKind != 3 OR NOT EXISTS (
            SELECT 1 FROM shard AS zoned
            WHERE zoned.notification = shard.notification AND zoned.isDone = 0 AND zoned.zoneKind != 3))
        """

    /// Returns the rows of shards that may be claimed, in the order in which to claim them.
    ///
    /// Campaigns take turns: one shard of each is claimed before a second shard of any, beginning with the campaign
    /// whose last page is the oldest. A last page in the future was written before the clock was set back. A paced
    /// campaign has one shard at a time. Urgent notifications are claimed in the order of their times.
    static func rows(
        _ lane: NotificationRecord.Lane,
        at clocks: ClockReading,
        limit: Int,
        from filter: ClaimFilter,
        in database: any SQLConnection
    ) throws -> [SQLRow] {
        let sql =
            switch lane {
            case .bulk:
                """
                WITH free AS (
                    SELECT notification, number AS shard, zoneKind, zone, cursor, upTo,
                        CASE WHEN lastPageAt IS NULL THEN notBefore END AS waitsSince,
                        row_number() OVER (PARTITION BY notification ORDER BY number) AS round
                    FROM shard
                    WHERE lane = 1 AND isDone = 0 AND notBefore <= ?3 AND lease IS NULL
                        AND \(Self.isNotTooEarly))
                SELECT notification.*, shard, zoneKind, zone, cursor, upTo, waitsSince
                FROM free JOIN notification ON notification.number = free.notification
                WHERE state IN ('accepted', 'sending') AND nextPageAt <= ?1 AND \(filter.isOfOtherTargets)
                    AND \(AppRows.isNotStopped)
                    AND (pace IS NULL OR round = 1 AND NOT EXISTS (
                        SELECT 1 FROM shard AS other
                        WHERE other.notification = notification.number AND other.lease IS NOT NULL))
                ORDER BY round, coalesce((
                    SELECT max(earlier.lastPageAt) FROM shard AS earlier
                    WHERE earlier.notification = notification.number AND earlier.lastPageAt <= max(?1, ?3)), 0),
                    notification.number
                LIMIT ?2
                """
            case .urgent:
                """
                SELECT notification.*, shard.number AS shard, zoneKind, zone, cursor, upTo,
                    CASE WHEN shard.lastPageAt IS NULL THEN notBefore END AS waitsSince
                FROM shard CROSS JOIN notification ON notification.number = shard.notification
                WHERE shard.lane = 0 AND isDone = 0 AND notBefore <= ?3 AND lease IS NULL
                    AND \(Self.isNotTooEarly)
                    AND state IN ('accepted', 'sending') AND nextPageAt <= ?1 AND \(filter.isOfOtherTargets)
                    AND \(AppRows.isNotStopped)
                ORDER BY shard.notBefore LIMIT ?2
                """
            }
        let arguments: SQLArguments = [clocks.steady.milliseconds, limit, clocks.wall.milliseconds]
        return try database.rows(sql: sql, arguments, isKept: filter.targets.isEmpty)
    }

    /// Locks a shard that was found, unless another transaction works with it or has changed it since.
    /// - Returns: Whether it can be claimed.
    static func lock(_ claim: ShardClaim, in database: any SQLConnection) throws -> Bool {
        guard !database.hasOneWriter else { return true }
        let number = claim.notificationNumber
        if claim.notification.pace != nil {
            // Other nodes claim its other shards.
            let isLeased = "SELECT 1 FROM shard WHERE notification = ? AND lease IS NOT NULL"
            guard try database.tryLock("notification", where: "number = ?", [number]),
                try !database.hasRow(sql: isLeased, number)
            else { return false }
        }
        let isFree = "notification = ? AND number = ? AND lease IS NULL AND isDone = 0 AND cursor = ?"
        return try database.tryLock("shard", where: isFree, [number, claim.shard, claim.cursor])
    }

    static func claim(_ row: SQLRow) throws -> ShardClaim {
        guard let number = row["number"] as Int64?, let shard = row["shard"] as Int64?,
            let zone = ShardPlan.Zone(code: row["zoneKind"] as Int64?, name: row["zone"] as String?),
            let cursor = row["cursor"] as Int64?, let end = row["upTo"] as Int64?
        else { throw DamagedRow(table: "shard") }
        let notification = try NotificationRecord(row: row)
        return ShardClaim(
            notification: SharedNotification(notification),
            notificationNumber: number,
            shard: shard,
            zone: zone,
            cursor: cursor,
            end: end,
            isNarrow: row["isNarrow"] as Bool? ?? false,
            // The caller sets the fencing number when it takes the lease.
            fence: 0,
            openedAfter: row["openedAfter"] as Int64? ?? 0,
            waitsSince: row.time("waitsSince").map { max($0, notification.startsAt) }
        )
    }
}

extension ClaimFilter {
    /// The SQL condition that a notification is sent to none of the excluded targets.
    var isOfOtherTargets: String {
        guard !self.targets.isEmpty else { return "TRUE" }
        let others = self.targets.sorted {
            ($0.app, $0.environment?.code ?? -1, $0.isWeb ? 1 : 0)
                < ($1.app, $1.environment?.code ?? -1, $1.isWeb ? 1 : 0)
        }
        return others.map { target in
            let environment = target.environment.map { "\($0.code)" } ?? "NULL"
            let kind = target.isWeb ? "IS" : "IS NOT"
            return """
                NOT (notification.app = \(target.app) AND notification.environment IS \(environment)
                    AND notification.tokenKind \(kind) \(DeviceTokenKind.web.code))
                """
        }.joined(separator: " AND ")
    }
}
