package import Foundation
import GRDB
import PushSupport
package import PushTypes

extension SQLiteStore {
    private static let rule = JSONColumn<RecurringSchedule>("schedule", "rule")

    package func addSchedule(_ schedule: ScheduleRecord, limits: ScheduleLimits) async throws -> ScheduleChangeResult {
        try await self.database.write { database in
            guard let uses = try ScheduleUses(schedule.uses, app: schedule.app, in: database) else {
                return .missingUse
            }
            let size = schedule.request.count
            if let excess = try Self.excess(size, replacing: nil, app: schedule.app, limits: limits, in: database) {
                return excess
            }
            try database.insert(
                into: "schedule",
                [
                    "id": schedule.id.uuidString, "app": schedule.app, "name": schedule.name,
                    "request": schedule.request, "rule": try schedule.rule.json.text, "version": schedule.version,
                    "nextRunAt": schedule.nextRunAt?.milliseconds, "lastRunAt": schedule.lastRunAt?.milliseconds,
                    "isPaused": schedule.isPaused, "createdAt": schedule.createdAt.milliseconds,
                    "key": schedule.key?.id.uuidString, "keyName": schedule.key?.name,
                    "number": (try database.integer(sql: "SELECT max(number) FROM schedule") ?? 0) + 1,
                ]
            )
            try uses.write(for: schedule.id)
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
            let sql = """
                SELECT id, app, name, CASE WHEN length(request) <= ?1 THEN request ELSE x'' END AS request, rule,
                    nextRunAt, lastRunAt, isPaused, createdAt, version, number, key, keyName, problem, problemAt, length(request) AS requestBytes
                FROM schedule WHERE app = ?2 AND number > ?3 ORDER BY number LIMIT ?4
                """
            let rows = try database.rows(sql: sql, [longestRequest, app, cursor?.number ?? 0, limit])
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

    package func app(ofSchedule id: UUID) async throws -> AppRecord? {
        let sql = "SELECT app FROM schedule WHERE id = ?"
        guard let app = try await self.database.read({ try $0.integer(sql: sql, [id.uuidString]) }) else { return nil }
        return try await self.app(id: app)
    }

    package func changeSchedule(
        _ id: UUID,
        _ change: ScheduleChange,
        limits: ScheduleLimits
    ) async throws -> ScheduleChangeResult {
        try await self.database.write { database in
            switch change {
            case .replace(let name, let request, let rule, let nextRunAt, let key, let used):
                guard let app = try database.integer(sql: "SELECT app FROM schedule WHERE id = ?", [id.uuidString])
                else { return .missing }
                guard let uses = try ScheduleUses(used, app: app, in: database) else { return .missingUse }
                if let excess = try Self.excess(request.count, replacing: id, app: app, limits: limits, in: database) {
                    return excess
                }
                let sql = """
                    UPDATE schedule SET name = ?, request = ?, rule = ?, nextRunAt = ?, key = ?, keyName = ?,
                        version = version + 1
                    WHERE id = ?
                    """
                let text = try rule.json.text
                let arguments: StatementArguments = [
                    name, request, text, nextRunAt?.milliseconds, key?.id.uuidString, key?.name, id.uuidString,
                ]
                try database.run(sql: sql, arguments)
                try uses.write(for: id)
            case .pause(let version):
                let sql = """
                    UPDATE schedule SET isPaused = 1, version = version + 1
                    WHERE id = ? AND isPaused = 0 AND version = coalesce(?, version)
                    """
                let isChanged = try database.run(sql: sql, [id.uuidString, version]) > 0
                if !isChanged, let version, try Self.version(of: id, in: database) != version { return .stale }
            case .resume(let nextRunAt, let version):
                let sql = """
                    UPDATE schedule SET isPaused = 0, nextRunAt = ?, version = version + 1
                    WHERE id = ? AND isPaused = 1 AND version = ?
                    """
                let isChanged = try database.run(sql: sql, [nextRunAt?.milliseconds, id.uuidString, version]) > 0
                if !isChanged, try Self.version(of: id, in: database) != version { return .stale }
            }
            return try Self.schedule(id, in: database).map { .changed($0) } ?? .missing
        }
    }

    /// Returns the stored version; `nil` if there is no such schedule.
    private static func version(of id: UUID, in database: Database) throws -> Int64? {
        try database.integer(sql: "SELECT version FROM schedule WHERE id = ?", [id.uuidString])
    }

    private static func schedule(_ id: UUID, in database: Database) throws -> ScheduleRecord? {
        try database.row(sql: "SELECT * FROM schedule WHERE id = ?", [id.uuidString]).map(Self.schedule)
    }

    /// Returns the limit that a request of this size would exceed besides the app's others; `nil` if none.
    private static func excess(
        _ size: Int,
        replacing id: UUID?,
        app: Int64,
        limits: ScheduleLimits,
        in database: Database
    ) throws -> ScheduleChangeResult? {
        func number(_ column: String, _ condition: String, _ id: String) throws -> Int {
            let sql = "SELECT \(column) FROM schedule WHERE app = ? AND id \(condition) ?"
            return try database.count(sql: sql, [app, id])
        }
        let name = id?.uuidString ?? ""
        if id == nil, try number("count(*)", "!=", name) >= limits.count { return .tooMany }
        // A request that is not larger than before is accepted, however large all are together.
        let isLarger = try id == nil || size > number("length(request)", "=", name)
        return try isLarger && size + number("sum(length(request))", "!=", name) > limits.bytes ? .tooLarge : nil
    }

    /// Returns `true` if a schedule still has this version and is not paused, so that a run of it may be accepted.
    static func isCurrent(_ schedule: UUID, version: Int64, in database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM schedule WHERE id = ? AND isPaused = 0 AND version = ?"
        return try database.hasRow(sql: sql, [schedule.uuidString, version])
    }

    package func advanceSchedule(
        _ id: UUID,
        from: Timestamp?,
        to next: Timestamp?,
        lastRunAt: Timestamp?
    ) async throws {
        let sql = "UPDATE schedule SET nextRunAt = ?, lastRunAt = ? WHERE id = ? AND nextRunAt IS ?"
        let (next, last) = (next?.milliseconds, lastRunAt?.milliseconds)
        try await self.database.run(sql: sql, [next, last, id.uuidString, from?.milliseconds])
    }

    package func deleteSchedule(_ id: UUID) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM schedule WHERE id = ?", [id.uuidString]) > 0
    }

    package func dueSchedules(
        now: Timestamp,
        limit: Int,
        excluding excluded: Set<Int64>
    ) async throws -> (schedules: [ScheduleRecord], unreadable: [String]) {
        let due = try await self.database.read { database in
            var unreadable: [(id: String, version: Int64)] = []
            let sql = """
                SELECT * FROM schedule WHERE isPaused = 0 AND nextRunAt <= ? AND \(Self.notIn(excluded))
                ORDER BY nextRunAt LIMIT ?
                """
            let rows = try database.rows(sql: sql, [now.milliseconds, limit], isKept: false)
            let schedules = Self.readable(rows) { unreadable.append(($0["id"] ?? "", $0["version"] ?? 0)) }
            return (schedules: schedules.map(\.0), unreadable: unreadable)
        }
        guard !due.unreadable.isEmpty else { return (due.schedules, []) }
        try await self.database.write { database in
            for (id, version) in due.unreadable {
                // Without effect if it was replaced meanwhile.
                let sql = "UPDATE schedule SET isPaused = 1, version = version + 1 WHERE id = ? AND version = ?"
                try database.run(sql: sql, [id, version])
            }
        }
        return (due.schedules, due.unreadable.map(\.id))
    }

    package func nextScheduleRun(excluding excluded: Set<Int64>) async throws -> Timestamp? {
        let sql = "SELECT min(nextRunAt) FROM schedule WHERE isPaused = 0 AND \(Self.notIn(excluded))"
        return try await self.database.read { try $0.time(sql: sql, isKept: false) }
    }

    /// Returns a condition that holds for rows of other apps.
    static func notIn(_ apps: Set<Int64>) -> String {
        apps.isEmpty ? "TRUE" : "app NOT IN (\(apps.sorted().map(String.init).joined(separator: ", ")))"
    }

    /// Returns the rows that can be read.
    private static func readable(_ rows: [Row], orElse damaged: (Row) -> Void) -> [(ScheduleRecord, Row)] {
        rows.compactMap { row in
            if let schedule = try? Self.schedule(row) { return (schedule, row) }
            damaged(row)
            return nil
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
        (schedule.version, schedule.key) = (version, row.key)
        if let message = row["problem"] as String?, let at = row.time("problemAt") {
            schedule.problem = ScheduleProblem(message: message, at: at)
        }
        return schedule
    }
}
