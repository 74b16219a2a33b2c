import Foundation
import PushSupport
import PushTypes

/// The erasure of a user from the requests that an app has stored: from schedules and named audiences.
extension UserErasure {
    enum StoredRequest: Hashable, Sendable {
        case schedule(String)
        /// A version of a named audience, by the audience's number. Version 0 stands for the current one.
        case audience(Int64, version: Int64)

        init?(_ row: SQLRow) {
            if let schedule = row["schedule"] as String? {
                self = .schedule(schedule)
            } else if let item = row["item"] as Int64?, let version = row["version"] as Int64? {
                self = .audience(item, version: version)
            } else {
                return nil
            }
        }

        fileprivate func parse(_ text: Data?) -> JSONValue? {
            guard let text, let body = try? JSONValue(parsing: text) else { return nil }
            return if case .schedule = self { body["to"] } else { body }
        }
    }

    private struct Names {
        /// The user, or `nil` if a device has been registered for the user since the erasure was requested.
        var user: String?
        var tokens: Set<DeviceToken>
    }

    /// Returns the tokens, and the user unless a device was registered for the user after the erasure's request.
    private func names(_ tokens: Set<DeviceToken>) throws -> Names {
        Names(user: try self.hasReturned() ? nil : self.user, tokens: tokens)
    }

    /// The SQL for the stored requests of an app (`?1`) whose text contains one of two substrings (`?2`, `?3`). A
    /// substring that is NULL matches nothing.
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

    /// Returns the stored requests that name the user, or that may name the tokens in any spelling.
    func requests(naming tokens: Set<DeviceToken>) throws -> [StoredRequest] {
        let names = try self.names(tokens)
        let user = try names.user == nil ? nil : Data(self.needle.utf8)
        // This finds the JSON members `token` and `tokens`.
        let token = tokens.isEmpty ? nil : Data(#""token"#.utf8)
        guard user != nil || token != nil else { return [] }
        let rows = try self.database.cursor(sql: Self.search, [self.app, user, token])
        var found: [StoredRequest] = []
        while let row = try rows.next() {
            guard let request = StoredRequest(row), let audience = request.parse(row["body"] as Data?)
            else { continue }
            if self.without(names, audience) != audience { found.append(request) }
        }
        return found
    }

    /// Removes the user and the user's tokens from schedules, and from all versions of named audiences. A schedule
    /// without any other recipient is deleted.
    ///
    /// A run that was created from the earlier version of a schedule is no longer accepted. A change of a named
    /// audience that expects the earlier version is rejected as stale.
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

    private func body(_ sql: String, _ arguments: SQLArguments) throws -> JSONValue? {
        guard let row = try self.database.row(sql: sql, arguments), let text = row["body"] as Data? else { return nil }
        return try? JSONValue(parsing: text)
    }

    /// Adds a version of a named audience, attributed to no caller, for the next runs of the schedules that use it.
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

    private static let nobody = JSONValue.object(["not": .object(["all": .bool(true)])])

    /// Returns an audience, in the form of a request, from which the user and the tokens are removed.
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
