package import Foundation
import GRDB
package import PushProtocol

extension SQLiteStore {
    package func addSchedule(_ schedule: ScheduleRecord) async throws {
        try await self.database.write { database in
            try database.execute(
                sql: """
                    INSERT INTO schedule (id, app, name, request, rule, nextRunAt, lastRunAt, isPaused, createdAt)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    schedule.id.uuidString, schedule.app, schedule.name, schedule.request, schedule.rule,
                    schedule.nextRunAt?.milliseconds, schedule.lastRunAt?.milliseconds, schedule.isPaused,
                    schedule.createdAt.milliseconds,
                ]
            )
        }
    }

    package func schedules(app: Int64) async throws -> [ScheduleRecord] {
        try await self.database.read { database in
            try Self.schedules(
                database,
                where: "app = ? ORDER BY createdAt, id",
                [app],
                orElse: { _ in }
            )
        }
    }

    package func schedule(_ id: UUID) async throws -> ScheduleRecord? {
        try await self.database.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM schedule WHERE id = ?", arguments: [id.uuidString])
                .map(Self.schedule)
        }
    }

    package func updateSchedule(_ schedule: ScheduleRecord) async throws -> Bool {
        try await self.database.write { database in
            try database.execute(
                sql: """
                    UPDATE schedule SET name = ?, request = ?, rule = ?, nextRunAt = ?, isPaused = ? WHERE id = ?
                    """,
                arguments: [
                    schedule.name, schedule.request, schedule.rule, schedule.nextRunAt?.milliseconds,
                    schedule.isPaused, schedule.id.uuidString,
                ]
            )
            return database.changesCount > 0
        }
    }

    package func advanceSchedule(
        _ id: UUID,
        from: Timestamp,
        to next: Timestamp?,
        lastRunAt: Timestamp?
    ) async throws {
        try await self.database.write { database in
            try database.execute(
                sql: "UPDATE schedule SET nextRunAt = ?, lastRunAt = ? WHERE id = ? AND nextRunAt = ?",
                arguments: [next?.milliseconds, lastRunAt?.milliseconds, id.uuidString, from.milliseconds]
            )
        }
    }

    package func deleteSchedule(_ id: UUID) async throws -> Bool {
        try await self.database.write { database in
            try database.execute(sql: "DELETE FROM schedule WHERE id = ?", arguments: [id.uuidString])
            return database.changesCount > 0
        }
    }

    package func dueSchedules(
        now: Timestamp,
        limit: Int
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String]) {
        let due = try await self.database.read { database in
            var unreadable: [String] = []
            let schedules = try Self.schedules(
                database,
                where: "isPaused = 0 AND nextRunAt <= ? ORDER BY nextRunAt LIMIT ?",
                [now.milliseconds, limit],
                orElse: { unreadable.append($0) }
            )
            return (schedules, unreadable)
        }
        if !due.1.isEmpty {
            try await self.database.write { database in
                for id in due.1 {
                    try database.execute(sql: "UPDATE schedule SET isPaused = 1 WHERE id = ?", arguments: [id])
                }
            }
        }
        return due
    }

    package func nextScheduleRun() async throws -> Timestamp? {
        try await self.database.read { database in
            try Int64.fetchOne(database, sql: "SELECT min(nextRunAt) FROM schedule WHERE isPaused = 0")
                .map(Timestamp.init(milliseconds:))
        }
    }

    private static func schedules(
        _ database: Database,
        where condition: String,
        _ arguments: StatementArguments,
        orElse damaged: (String) -> Void
    ) throws -> [ScheduleRecord] {
        let sql = "SELECT * FROM schedule WHERE \(condition)"
        return try Row.fetchAll(database, sql: sql, arguments: arguments).compactMap { row in
            do {
                return try Self.schedule(row)
            } catch is DamagedRow {
                damaged(row["id"] as String? ?? "")
                return nil
            }
        }
    }

    static func schedule(_ row: Row) throws -> ScheduleRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let name = row["name"] as String?,
            let request = row["request"] as Data?, let rule = row["rule"] as Data?,
            let isPaused = row["isPaused"] as Bool?, let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "schedule") }
        return ScheduleRecord(
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
    }
}
