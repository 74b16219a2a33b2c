package import Foundation
import GRDB
import PushSupport
package import PushTypes

extension SQLiteStore {
    private static let rule = JSONColumn<RecurringSchedule>("schedule", "rule")

    package func addSchedule(_ schedule: ScheduleRecord, limits: ScheduleLimits) async throws -> ScheduleChangeResult {
        try await self.database.write { database in
            let size = schedule.request.count
            if let excess = try Self.excess(size, replacing: nil, app: schedule.app, limits: limits, in: database) {
                return excess
            }
            try database.execute(
                sql: """
                    INSERT INTO schedule (id, app, name, request, rule, nextRunAt, lastRunAt, isPaused, createdAt,
                        version, number)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(number), 0) + 1 FROM schedule))
                    """,
                arguments: [
                    schedule.id.uuidString, schedule.app, schedule.name, schedule.request, try schedule.rule.json.text,
                    schedule.nextRunAt?.milliseconds, schedule.lastRunAt?.milliseconds, schedule.isPaused,
                    schedule.createdAt.milliseconds, schedule.version,
                ]
            )
            return .changed(schedule)
        }
    }

    package func schedules(
        app: Int64,
        after cursor: ScheduleCursor?,
        limit: Int,
        longestRequest: Int
    ) async throws -> SchedulePage {
        try await self.database.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT id, app, name, CASE WHEN length(request) <= ?1 THEN request ELSE x'' END AS request, rule,
                        nextRunAt, lastRunAt, isPaused, createdAt, version, number, length(request) AS requestBytes
                    FROM schedule WHERE app = ?2 AND number > ?3 ORDER BY number LIMIT ?4
                    """,
                arguments: [longestRequest, app, cursor?.number ?? 0, limit]
            )
            let next = rows.count == limit ? rows.last?["number"] as Int64? : nil
            let entries = Self.readable(rows, orElse: { _ in }).map { schedule, row in
                SchedulePage.Entry(schedule: schedule, requestBytes: row["requestBytes"] ?? 0)
            }
            return SchedulePage(entries: entries, next: next.map(ScheduleCursor.init))
        }
    }

    package func schedule(_ id: UUID) async throws -> ScheduleRecord? {
        try await self.database.read { try Self.schedule(id, in: $0) }
    }

    package func changeSchedule(
        _ id: UUID,
        _ change: ScheduleChange,
        limits: ScheduleLimits
    ) async throws -> ScheduleChangeResult {
        try await self.database.write { database in
            switch change {
            case .replace(let name, let request, let rule, let nextRunAt):
                guard let app = try Self.app(ofSchedule: id, in: database) else { return .missing }
                if let excess = try Self.excess(request.count, replacing: id, app: app, limits: limits, in: database) {
                    return excess
                }
                try database.execute(
                    sql: """
                        UPDATE schedule SET name = ?, request = ?, rule = ?, nextRunAt = ?, version = version + 1
                        WHERE id = ?
                        """,
                    arguments: [name, request, try rule.json.text, nextRunAt?.milliseconds, id.uuidString]
                )
            case .pause(let version):
                try database.execute(
                    sql: """
                        UPDATE schedule SET isPaused = 1, version = version + 1
                        WHERE id = ? AND isPaused = 0 AND version = coalesce(?, version)
                        """,
                    arguments: [id.uuidString, version]
                )
                if database.changesCount == 0, let version, try Self.version(of: id, in: database) != version {
                    return .stale
                }
            case .resume(let nextRunAt, let version):
                try database.execute(
                    sql: """
                        UPDATE schedule SET isPaused = 0, nextRunAt = ?, version = version + 1
                        WHERE id = ? AND isPaused = 1 AND version = ?
                        """,
                    arguments: [nextRunAt?.milliseconds, id.uuidString, version]
                )
                if database.changesCount == 0, try Self.version(of: id, in: database) != version { return .stale }
            }
            return try Self.schedule(id, in: database).map { .changed($0) } ?? .missing
        }
    }

    /// Returns the stored version; `nil` if there is no such schedule.
    private static func version(of id: UUID, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT version FROM schedule WHERE id = ?", arguments: [id.uuidString])
    }

    private static func app(ofSchedule id: UUID, in database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT app FROM schedule WHERE id = ?", arguments: [id.uuidString])
    }

    private static func schedule(_ id: UUID, in database: Database) throws -> ScheduleRecord? {
        try Row.fetchOne(database, sql: "SELECT * FROM schedule WHERE id = ?", arguments: [id.uuidString])
            .map(Self.schedule)
    }

    /// Returns the limit that a request of this size would exceed besides the app's others; `nil` if none.
    private static func excess(
        _ size: Int,
        replacing id: UUID?,
        app: Int64,
        limits: ScheduleLimits,
        in database: Database
    ) throws -> ScheduleChangeResult? {
        let others = try Row.fetchOne(
            database,
            sql: """
                SELECT count(*) AS count, coalesce(sum(length(request)), 0) AS bytes
                FROM schedule WHERE app = ? AND id != ?
                """,
            arguments: [app, id?.uuidString ?? ""]
        )
        let count = others.flatMap { $0["count"] as Int? } ?? 0
        let bytes = others.flatMap { $0["bytes"] as Int? } ?? 0
        if id == nil, count >= limits.count { return .tooMany }
        guard let id else { return bytes + size > limits.bytes ? .tooLarge : nil }
        // A request that is not larger than before is accepted, however large all are together.
        let before = try Int.fetchOne(
            database,
            sql: "SELECT length(request) FROM schedule WHERE id = ?",
            arguments: [id.uuidString]
        )
        return bytes + size > limits.bytes && size > before ?? 0 ? .tooLarge : nil
    }

    /// Tells whether a schedule still has this version and is not paused, so that a run of it may be accepted.
    static func isCurrent(_ schedule: UUID, version: Int64, in database: Database) throws -> Bool {
        try Row.fetchOne(
            database,
            sql: "SELECT 1 FROM schedule WHERE id = ? AND isPaused = 0 AND version = ?",
            arguments: [schedule.uuidString, version]
        ) != nil
    }

    package func advanceSchedule(
        _ id: UUID,
        from: Timestamp,
        to next: Timestamp?,
        lastRunAt: Timestamp?
    ) async throws {
        try await self.database.execute(
            "UPDATE schedule SET nextRunAt = ?, lastRunAt = ? WHERE id = ? AND nextRunAt = ?",
            [next?.milliseconds, lastRunAt?.milliseconds, id.uuidString, from.milliseconds]
        )
    }

    package func deleteSchedule(_ id: UUID) async throws -> Bool {
        try await self.database.execute("DELETE FROM schedule WHERE id = ?", [id.uuidString]) > 0
    }

    package func dueSchedules(
        now: Timestamp,
        limit: Int,
        excluding excluded: Set<Int64>
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String]) {
        let due = try await self.database.read { database in
            var unreadable: [(id: String, version: Int64)] = []
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM schedule WHERE isPaused = 0 AND nextRunAt <= ? AND \(Self.notIn(excluded))
                    ORDER BY nextRunAt LIMIT ?
                    """,
                arguments: [now.milliseconds, limit]
            )
            let schedules = Self.readable(rows) { unreadable.append(($0["id"] ?? "", $0["version"] ?? 0)) }
            return (schedules: schedules.map(\.0), unreadable: unreadable)
        }
        if !due.unreadable.isEmpty {
            try await self.database.write { database in
                for (id, version) in due.unreadable {
                    // Without effect if it was repaired meanwhile.
                    try database.execute(
                        sql: "UPDATE schedule SET isPaused = 1, version = version + 1 WHERE id = ? AND version = ?",
                        arguments: [id, version]
                    )
                }
            }
        }
        return (due.schedules, due.unreadable.map(\.id))
    }

    package func nextScheduleRun(excluding excluded: Set<Int64>) async throws -> Timestamp? {
        try await self.database.read { database in
            try Int64.fetchOne(
                database,
                sql: "SELECT min(nextRunAt) FROM schedule WHERE isPaused = 0 AND \(Self.notIn(excluded))"
            )
            .map(Timestamp.init(milliseconds:))
        }
    }

    /// Returns a condition that holds for rows of other apps.
    static func notIn(_ apps: Set<Int64>) -> String {
        apps.isEmpty ? "TRUE" : "app NOT IN (\(apps.sorted().map(String.init).joined(separator: ", ")))"
    }

    /// Returns the rows that can be read.
    private static func readable(_ rows: [Row], orElse damaged: (Row) -> Void) -> [(ScheduleRecord, Row)] {
        rows.compactMap { row in
            guard let schedule = try? Self.schedule(row) else {
                damaged(row)
                return nil
            }
            return (schedule, row)
        }
    }

    /// Reads a schedule's row.
    /// - Throws: ``DamagedRow``.
    static func schedule(_ row: Row) throws -> ScheduleRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let name = row["name"] as String?,
            let request = row["request"] as Data?, let rule = try Self.rule.value(row),
            let isPaused = row["isPaused"] as Bool?, let createdAt = row.time("createdAt"),
            let version = row["version"] as Int64?
        else { throw DamagedRow(table: "schedule") }
        var schedule = ScheduleRecord(
            id: id,
            app: app,
            name: name,
            request: request,
            rule: rule,
            nextRunAt: row.time("nextRunAt"),
            lastRunAt: row.time("lastRunAt"),
            isPaused: isPaused,
            createdAt: createdAt
        )
        schedule.version = version
        return schedule
    }
}
