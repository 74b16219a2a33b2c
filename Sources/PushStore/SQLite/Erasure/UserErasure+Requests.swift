import Foundation
import GRDB
import PushSupport
import PushTypes

/// The requests that an app has stored: schedules and named audiences.
extension UserErasure {
    /// Removes schedules to the user alone, and takes the user from others.
    ///
    /// A run that was decided from what was read before is not accepted any more.
    func eraseSchedules() throws {
        let sql = "SELECT id, request FROM schedule WHERE app = ? AND instr(request, ?) > 0"
        for row in try self.database.rows(sql: sql, [self.app, Data(try self.needle.utf8)]) {
            guard let id = row["id"] as String?, let text = row["request"] as Data?,
                case .object(var members)? = try? JSONValue(parsing: text), let to = members["to"]
            else { continue }
            let rest = Self.without(self.user, to)
            guard rest != to else { continue }
            guard rest != Self.nobody else {
                try self.database.run(sql: "DELETE FROM schedule WHERE id = ?", [id])
                continue
            }
            members["to"] = rest
            let change = "UPDATE schedule SET request = ?, version = version + 1 WHERE id = ?"
            try self.database.run(sql: change, [try JSONValue.object(members).text, id])
        }
    }

    /// Takes the user from named audiences, and from their earlier versions.
    ///
    /// A change that expects the version from before is refused as stale.
    func eraseAudiences() throws {
        let items = """
            SELECT number AS item, 0 AS version, body FROM libraryItem
            WHERE app = ?1 AND kind = 'audience' AND instr(body, ?2) > 0
            UNION ALL SELECT item, libraryVersion.version, libraryVersion.body FROM libraryItem
            JOIN libraryVersion ON item = number
            WHERE app = ?1 AND kind = 'audience' AND instr(libraryVersion.body, ?2) > 0
            """
        for row in try self.database.rows(sql: items, [self.app, Data(try self.needle.utf8)]) {
            guard let item = row["item"] as Int64?, let version = row["version"] as Int64?,
                let text = row["body"] as Data?, let body = try? JSONValue(parsing: text)
            else { continue }
            let rest = Self.without(self.user, body)
            guard rest != body else { continue }
            if version == 0 {
                try self.addVersion(of: item, try rest.text)
            } else {
                let sql = "UPDATE libraryVersion SET body = ? WHERE item = ? AND version = ?"
                try self.database.run(sql: sql, [try rest.text, item, version])
            }
        }
    }

    /// Gives a named audience another body, as a version that nobody has made, for the next runs of its schedules.
    private func addVersion(of item: Int64, _ body: Data) throws {
        let change = """
            UPDATE libraryItem SET body = ?, version = version + 1, changedAt = max(changedAt, ?), key = NULL, keyName = NULL
            WHERE number = ?
            """
        try self.database.run(sql: change, [body, self.now.milliseconds, item])
        let version = """
            INSERT INTO libraryVersion (item, version, name, description, body, at)
            SELECT number, version, name, description, body, changedAt FROM libraryItem WHERE number = ?
            """
        try self.database.run(sql: version, [item])
        let schedules = """
            UPDATE schedule SET version = version + 1 WHERE id IN (SELECT schedule FROM scheduleUse WHERE item = ?)
            """
        try self.database.run(sql: schedules, [item])
    }

    /// An audience without devices.
    private static let nobody = JSONValue.object(["not": .object(["all": .bool(true)])])

    /// Returns an audience in the form of a request without a user.
    private static func without(_ user: String, _ audience: JSONValue) -> JSONValue {
        switch audience {
        case .object(var members):
            if members["user"] == .string(user) { return Self.nobody }
            if case .array(let users)? = members["users"] {
                let rest = users.filter { $0 != .string(user) }
                if rest.isEmpty { return Self.nobody }
                members["users"] = .array(rest)
            }
            return .object(members.mapValues { Self.without(user, $0) })
        case .array(let elements): return .array(elements.map { Self.without(user, $0) })
        case .string, .integer, .number, .bool, .null: return audience
        }
    }
}
