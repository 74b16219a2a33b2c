package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes

extension SQLStore {
    package func addSchedule(_ schedule: ScheduleRecord, limits: ScheduleLimits) async throws -> ScheduleChangeResult {
        try await self.database.write { database in
            guard let uses = try ScheduleUses(schedule.uses, app: schedule.app, in: database)
            else { return .missingUse }
            let size = schedule.request.count
            let rows = ScheduleRows(database: database)
            let refusal = try rows.refusal(of: size, replacing: nil, app: schedule.app, limits)
            if let refusal { return refusal }
            try database.insert(
                into: "schedule",
                of: .app,
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
    ) async throws -> ScheduleList {
        try await self.database.read { database in
            let sql = """
                SELECT id, app, name, CASE WHEN length(request) <= ?1 THEN request ELSE x'' END AS request, rule,
                    nextRunAt, lastRunAt, isPaused, createdAt, version, number, key, keyName, problem, problemAt, length(request) AS requestBytes
                FROM schedule WHERE app = ?2 AND number > ?3 ORDER BY number LIMIT ?4
                """
            let rows = try database.rows(sql: sql, [longestRequest, app, cursor?.number ?? 0, limit])
            let next = rows.count == limit ? rows.last?["number"] as Int64? : nil
            let entries = try rows.compactMap { row in
                try row.readable(ScheduleRecord.init(row:)).map { schedule in
                    ScheduleList.Entry(schedule: schedule, requestBytes: row["requestBytes"] ?? 0)
                }
            }
            return ScheduleList(entries: entries, next: next.map(ScheduleCursor.init))
        }
    }

    package func schedule(_ id: UUID) async throws -> ScheduleRecord? {
        try await self.database.read { try ScheduleRecord.find(id, in: $0) }
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
            let rows = ScheduleRows(database: database)
            switch change {
            case .replace(let name, let request, let rule, let nextRunAt, let key, let used):
                guard let app = try database.integer(sql: "SELECT app FROM schedule WHERE id = ?", [id.uuidString])
                else { return .missing }
                guard let uses = try ScheduleUses(used, app: app, in: database) else { return .missingUse }
                let refusal = try rows.refusal(of: request.count, replacing: id, app: app, limits)
                if let refusal { return refusal }
                try database.update(
                    "schedule",
                    [
                        "name": name, "request": request, "rule": try rule.json.text,
                        "nextRunAt": nextRunAt?.milliseconds, "key": key?.id.uuidString, "keyName": key?.name,
                    ],
                    id: id.uuidString
                )
                try database.run(sql: "UPDATE schedule SET version = version + 1 WHERE id = ?", [id.uuidString])
                try uses.write(for: id)
            case .pause(let version):
                let sql = """
                    UPDATE schedule SET isPaused = 1, version = version + 1
                    WHERE id = ? AND isPaused = 0 AND version = coalesce(?, version)
                    """
                let isChanged = try database.run(sql: sql, [id.uuidString, version]) > 0
                if !isChanged, let version, try rows.version(of: id) != version { return .stale }
            case .resume(let nextRunAt, let version):
                let sql = """
                    UPDATE schedule SET isPaused = 0, nextRunAt = ?, version = version + 1
                    WHERE id = ? AND isPaused = 1 AND version = ?
                    """
                let isChanged = try database.run(sql: sql, [nextRunAt?.milliseconds, id.uuidString, version]) > 0
                if !isChanged, try rows.version(of: id) != version { return .stale }
            }
            return try ScheduleRecord.find(id, in: database).map { .changed($0) } ?? .missing
        }
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
                SELECT * FROM schedule WHERE isPaused = 0 AND nextRunAt <= ? AND \(AppRows.noneOf(excluded))
                ORDER BY nextRunAt LIMIT ?
                """
            let rows = try database.rows(sql: sql, [now.milliseconds, limit], isKept: false)
            let schedules = try rows.compactMap { row in
                let schedule = try row.readable(ScheduleRecord.init(row:))
                if schedule == nil { unreadable.append((row["id"] ?? "", row["version"] ?? 0)) }
                return schedule
            }
            return (schedules: schedules, unreadable: unreadable)
        }
        guard !due.unreadable.isEmpty else { return (due.schedules, []) }
        try await self.database.write { database in
            for (id, version) in due.unreadable {
                // This statement has no effect on a schedule that was changed meanwhile.
                let sql = "UPDATE schedule SET isPaused = 1, version = version + 1 WHERE id = ? AND version = ?"
                try database.run(sql: sql, [id, version])
            }
        }
        return (due.schedules, due.unreadable.map(\.id))
    }

    package func nextScheduleRun(excluding excluded: Set<Int64>) async throws -> Timestamp? {
        let sql = "SELECT min(nextRunAt) FROM schedule WHERE isPaused = 0 AND \(AppRows.noneOf(excluded))"
        return try await self.database.read { try $0.time(sql: sql, isKept: false) }
    }

    // MARK: Problems

    /// The maximum length of the text of a problem, in characters. The rest is cut off.
    private static let maximumProblem = 500

    package func setProblem(_ problem: ScheduleProblem, ofSchedule id: UUID) async throws {
        let sql = "UPDATE schedule SET problem = ?, problemAt = ? WHERE id = ?"
        let message = String(problem.message.prefix(Self.maximumProblem))
        try await self.database.run(sql: sql, [message, problem.at.milliseconds, id.uuidString])
    }

    package func clearProblem(ofSchedule id: UUID, notedBefore time: Timestamp) async throws {
        let sql = "UPDATE schedule SET problem = NULL, problemAt = NULL WHERE id = ? AND problemAt < ?"
        try await self.database.run(sql: sql, [id.uuidString, time.milliseconds])
    }

    package func schedulesWithProblems(apps: [Int64], limit: Int) async throws -> [ScheduleRecord] {
        guard !apps.isEmpty else { return [] }
        let list = apps.map(String.init).joined(separator: ", ")
        let sql = """
            SELECT * FROM schedule WHERE problem IS NOT NULL AND app IN (\(list)) ORDER BY problemAt DESC LIMIT ?
            """
        return try await self.database.lookup { try $0.records(sql: sql, [limit], isKept: false) }
    }
}

struct ScheduleRows {
    let database: any SQLConnection

    fileprivate func version(of id: UUID) throws -> Int64? {
        try self.database.integer(sql: "SELECT version FROM schedule WHERE id = ?", [id.uuidString])
    }

    /// Returns whether a schedule has the given version and is not paused, so that its run may be accepted.
    func isCurrent(_ schedule: UUID, version: Int64) throws -> Bool {
        let sql = "SELECT 1 FROM schedule WHERE id = ? AND isPaused = 0 AND version = ?"
        return try self.database.hasRow(sql: sql, [schedule.uuidString, version])
    }

    /// Returns the refusal of a schedule if its request of `size` bytes would exceed a limit, or `nil` otherwise.
    /// - Parameter id: The schedule that it replaces, or `nil` for a new one.
    fileprivate func refusal(
        of size: Int,
        replacing id: UUID?,
        app: Int64,
        _ limits: ScheduleLimits
    ) throws -> ScheduleChangeResult? {
        func number(_ column: String, _ condition: String) throws -> Int {
            let sql = "SELECT \(column) FROM schedule WHERE app = ? AND id \(condition) ?"
            return try self.database.count(sql: sql, [app, id?.uuidString ?? ""])
        }
        let old = try id.map { _ in try number("length(request)", "=") }
        let others = (count: try number("count(*)", "!="), bytes: try number("sum(length(request))", "!="))
        return limits.refusal(of: size, replacing: old, beside: others)
    }
}

extension ScheduleRecord: StoredRecord {
    static let table = "schedule"

    private static let storedRule = JSONColumn<RecurringSchedule>("rule")

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            name: try row.get("name"),
            request: try row.get("request"),
            rule: try row.need(Self.storedRule.value(row)),
            nextRunAt: row["nextRunAt"],
            lastRunAt: row["lastRunAt"],
            isPaused: try row.get("isPaused"),
            createdAt: try row.get("createdAt")
        )
        (self.version, self.key) = (try row.get("version"), row.key)
        if let message: String = row["problem"], let at: Timestamp = row["problemAt"] {
            self.problem = ScheduleProblem(message: message, at: at)
        }
    }
}
