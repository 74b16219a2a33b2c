package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    /// The longest text of a problem, in characters.
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
        let list = apps.map(String.init).joined(separator: ", ")
        let sql = """
            SELECT * FROM schedule WHERE problem IS NOT NULL AND app IN (\(list)) ORDER BY problemAt DESC LIMIT ?
            """
        return try await self.database.lookup { database in
            try database.rows(sql: sql, [limit], isKept: false).compactMap { try $0.readable(Self.schedule) }
        }
    }
}
