import Foundation
import GRDB
import PushSupport

/// The requests that an app has stored: schedules and named audiences.
extension UserErasure {
    /// Removes schedules to the user alone, and takes the user from others.
    func eraseSchedules() throws {
        let sql = "SELECT id, request FROM schedule WHERE app = ? AND instr(request, ?) > 0"
        for row in try self.database.rows(sql: sql, [self.app, Data(try self.needle.utf8)]) {
            guard let id = row["id"] as String?, let text = row["request"] as Data?,
                case .object(var members)? = try? JSONValue(parsing: text), let to = members["to"]
            else { continue }
            let rest = Self.without(self.user, to)
            guard rest != Self.nobody else {
                try self.database.run(sql: "DELETE FROM schedule WHERE id = ?", [id])
                continue
            }
            members["to"] = rest
            try self.database.update("schedule", ["request": try JSONValue.object(members).text], id: id)
        }
    }

    /// Takes the user from named audiences, and from their earlier versions.
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
            let rest = try Self.without(self.user, body).text
            if version == 0 {
                try self.database.run(sql: "UPDATE libraryItem SET body = ? WHERE number = ?", [rest, item])
            } else {
                let sql = "UPDATE libraryVersion SET body = ? WHERE item = ? AND version = ?"
                try self.database.run(sql: sql, [rest, item, version])
            }
        }
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
