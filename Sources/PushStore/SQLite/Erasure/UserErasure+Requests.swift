import Foundation
import GRDB
import PushSupport
import PushTypes

/// The requests that an app has stored: schedules and named audiences.
extension UserErasure {
    /// A stored request, by its id.
    enum StoredRequest: Hashable, Sendable {
        case schedule(String)
        /// A version of a named audience; 0 for the current one.
        case audience(Int64, version: Int64)

        init?(_ row: Row) {
            if let schedule = row["schedule"] as String? {
                self = .schedule(schedule)
            } else if let item = row["item"] as Int64?, let version = row["version"] as Int64? {
                self = .audience(item, version: version)
            } else {
                return nil
            }
        }

        /// Returns the audience in its text; `nil` if that cannot be read.
        fileprivate func parse(_ text: Data?) -> JSONValue? {
            guard let text, let body = try? JSONValue(parsing: text) else { return nil }
            return if case .schedule = self { body["to"] } else { body }
        }
    }

    /// The user and the tokens that are removed from requests.
    private struct Names {
        /// The user; `nil` once a device has been registered for the user again.
        var user: String?
        var tokens: Set<DeviceToken>
    }

    /// Returns the tokens together with the name of the user, unless a device has been registered for the user again.
    private func names(_ tokens: Set<DeviceToken>) throws -> Names {
        Names(user: try self.hasReturned() ? nil : self.user, tokens: tokens)
    }

    /// The statement that finds the stored requests of an app (`?1`) whose text contains one of two parts (`?2`, `?3`). A
    /// part that is NULL matches none.
    private static let search = """
        SELECT id AS schedule, NULL AS item, 0 AS version, request AS body FROM schedule
        WHERE app = ?1 AND (instr(request, ?2) > 0 OR instr(request, ?3) > 0)
        UNION ALL SELECT NULL, number, 0, body FROM libraryItem
        WHERE app = ?1 AND kind = 'audience' AND (instr(body, ?2) > 0 OR instr(body, ?3) > 0)
        UNION ALL SELECT NULL, item, libraryVersion.version, libraryVersion.body FROM libraryItem
        JOIN libraryVersion ON item = number
        WHERE app = ?1 AND kind = 'audience'
            AND (instr(libraryVersion.body, ?2) > 0 OR instr(libraryVersion.body, ?3) > 0)
        """

    /// Returns the stored requests that name the user or the tokens, in any form in which tokens may be written.
    func requests(naming tokens: Set<DeviceToken>) throws -> [StoredRequest] {
        let names = try self.names(tokens)
        let user = try names.user == nil ? nil : Data(self.needle.utf8)
        // This finds the members `token` and `tokens`.
        let token = tokens.isEmpty ? nil : Data(#""token"#.utf8)
        guard user != nil || token != nil else { return [] }
        let statement = try self.database.cachedStatement(sql: Self.search)
        let rows = try Row.fetchCursor(statement, arguments: [self.app, user, token])
        var found: [StoredRequest] = []
        while let row = try rows.next() {
            guard let request = StoredRequest(row), let audience = request.parse(row["body"] as Data?)
            else { continue }
            if self.without(names, audience) != audience { found.append(request) }
        }
        return found
    }

    /// Removes the user and the user's tokens from schedules, and from named audiences with all their versions. Schedules for
    /// nobody else are deleted.
    ///
    /// A run that was made from the earlier version of a schedule is not accepted any more, and a change of a named audience
    /// that expects the earlier version is refused as stale.
    func eraseUser(from requests: [StoredRequest]) throws {
        guard !requests.isEmpty else { return }
        let names = try self.names(self.ownTokens())
        for request in requests {
            switch request {
            case .schedule(let id): try self.erase(names, fromSchedule: id)
            case .audience(let item, let version): try self.erase(names, fromAudience: item, version: version)
            }
        }
    }

    private func erase(_ names: Names, fromSchedule id: String) throws {
        let sql = "SELECT request AS body FROM schedule WHERE id = ?"
        guard case .object(var members)? = try self.body(sql, [id]), let to = members["to"] else { return }
        let rest = self.without(names, to)
        guard rest != to else { return }
        guard rest != Self.nobody else {
            try self.database.run(sql: "DELETE FROM schedule WHERE id = ?", [id])
            return
        }
        members["to"] = rest
        let change = "UPDATE schedule SET request = ?, version = version + 1 WHERE id = ?"
        try self.database.run(sql: change, [try JSONValue.object(members).text, id])
    }

    private func erase(_ names: Names, fromAudience item: Int64, version: Int64) throws {
        let present = "SELECT body FROM libraryItem WHERE number = ?"
        let earlier = "SELECT body FROM libraryVersion WHERE item = ? AND version = ?"
        guard let body = try version == 0 ? self.body(present, [item]) : self.body(earlier, [item, version])
        else { return }
        let rest = self.without(names, body)
        guard rest != body else { return }
        guard version > 0 else { return try self.addVersion(of: item, try rest.text) }
        let sql = "UPDATE libraryVersion SET body = ? WHERE item = ? AND version = ?"
        try self.database.run(sql: sql, [try rest.text, item, version])
    }

    /// Reads the text of a stored request; `nil` if it does not exist any more, or cannot be read.
    private func body(_ sql: String, _ arguments: StatementArguments) throws -> JSONValue? {
        guard let row = try self.database.row(sql: sql, arguments), let text = row["body"] as Data? else { return nil }
        return try? JSONValue(parsing: text)
    }

    /// Adds a version of a named audience without a caller, for the next runs of its schedules.
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

    // MARK: Audiences

    /// An audience without devices.
    private static let nobody = JSONValue.object(["not": .object(["all": .bool(true)])])

    /// Returns an audience, in the form of a request, without the user and the tokens.
    private func without(_ names: Names, _ audience: JSONValue) -> JSONValue {
        func isUser(_ value: JSONValue) -> Bool { names.user.map { value == .string($0) } ?? false }
        func isToken(_ value: JSONValue) -> Bool {
            guard !names.tokens.isEmpty, case .string(let text) = value else { return false }
            return DeviceToken(userInput: text).map(names.tokens.contains) ?? false
        }
        switch audience {
        case .object(var members):
            let kinds: [(one: String, many: String, isErased: (JSONValue) -> Bool)] = [
                ("user", "users", isUser), ("token", "tokens", isToken),
            ]
            for kind in kinds {
                if let name = members[kind.one], kind.isErased(name) { return Self.nobody }
                guard case .array(let elements)? = members[kind.many] else { continue }
                let rest = elements.filter { !kind.isErased($0) }
                if rest.isEmpty { return Self.nobody }
                members[kind.many] = .array(rest)
            }
            return .object(members.mapValues { self.without(names, $0) })
        case .array(let elements): return .array(elements.map { self.without(names, $0) })
        case .string, .integer, .number, .bool, .null: return audience
        }
    }
}
