import Foundation
import GRDB
import PushSupport
import PushTypes

/// The requests that an app has stored: schedules and named audiences.
extension UserErasure {
    /// A request that the app has stored.
    enum StoredRequest: Hashable, Sendable {
        case schedule(String)
        /// A version of a named audience; 0 for the present one.
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

        /// Returns the audience of its text; `nil` if that cannot be read.
        fileprivate func parse(_ text: Data?) -> JSONValue? {
            guard let text, let body = try? JSONValue(parsing: text) else { return nil }
            return if case .schedule = self { body["to"] } else { body }
        }
    }

    /// The statement that finds the stored requests of an app (`?1`) whose text has a part (`?2`).
    private static let search = """
        SELECT id AS schedule, NULL AS item, 0 AS version, request AS body FROM schedule
        WHERE app = ?1 AND instr(request, ?2) > 0
        UNION ALL SELECT NULL, number, 0, body FROM libraryItem
        WHERE app = ?1 AND kind = 'audience' AND instr(body, ?2) > 0
        UNION ALL SELECT NULL, item, libraryVersion.version, libraryVersion.body FROM libraryItem
        JOIN libraryVersion ON item = number
        WHERE app = ?1 AND kind = 'audience' AND instr(libraryVersion.body, ?2) > 0
        """

    /// Takes the user from schedules, and from named audiences with their earlier versions. Schedules to the user alone are
    /// removed.
    ///
    /// A run that was decided from what was read before is not accepted any more, and a change of a named audience that expects
    /// the version from before is refused as stale.
    func eraseRequests() throws {
        for row in try self.database.rows(sql: Self.search, [self.app, Data(try self.needle.utf8)]) {
            guard let request = StoredRequest(row) else { continue }
            try self.erase([], from: request)
        }
    }

    /// Returns the stored requests that name tokens, in whatever form their writers chose.
    func requests(naming tokens: Set<DeviceToken>) throws -> [StoredRequest] {
        guard !tokens.isEmpty else { return [] }
        let statement = try self.database.cachedStatement(sql: Self.search)
        // The members token and tokens.
        let rows = try Row.fetchCursor(statement, arguments: [self.app, Data(#""token"#.utf8)])
        var found: [StoredRequest] = []
        while let row = try rows.next() {
            guard let request = StoredRequest(row), let audience = request.parse(row["body"] as Data?)
            else { continue }
            if self.without(tokens, audience) != audience { found.append(request) }
        }
        return found
    }

    /// Takes the user's tokens from stored requests, as ``eraseRequests()`` takes the user.
    func eraseTokens(from requests: [StoredRequest]) throws {
        guard !requests.isEmpty else { return }
        let tokens = try self.ownTokens()
        for request in requests { try self.erase(tokens, from: request) }
    }

    /// Takes the user and tokens from a stored request.
    private func erase(_ tokens: Set<DeviceToken>, from request: StoredRequest) throws {
        switch request {
        case .schedule(let id): try self.erase(tokens, fromSchedule: id)
        case .audience(let item, let version): try self.erase(tokens, fromAudience: item, version: version)
        }
    }

    private func erase(_ tokens: Set<DeviceToken>, fromSchedule id: String) throws {
        let sql = "SELECT request AS body FROM schedule WHERE id = ?"
        guard case .object(var members)? = try self.body(sql, [id]), let to = members["to"] else { return }
        let rest = self.without(tokens, to)
        guard rest != to else { return }
        guard rest != Self.nobody else {
            try self.database.run(sql: "DELETE FROM schedule WHERE id = ?", [id])
            return
        }
        members["to"] = rest
        let change = "UPDATE schedule SET request = ?, version = version + 1 WHERE id = ?"
        try self.database.run(sql: change, [try JSONValue.object(members).text, id])
    }

    private func erase(_ tokens: Set<DeviceToken>, fromAudience item: Int64, version: Int64) throws {
        let present = "SELECT body FROM libraryItem WHERE number = ?"
        let earlier = "SELECT body FROM libraryVersion WHERE item = ? AND version = ?"
        guard let body = try version == 0 ? self.body(present, [item]) : self.body(earlier, [item, version])
        else { return }
        let rest = self.without(tokens, body)
        guard rest != body else { return }
        guard version > 0 else { return try self.addVersion(of: item, try rest.text) }
        let sql = "UPDATE libraryVersion SET body = ? WHERE item = ? AND version = ?"
        try self.database.run(sql: sql, [try rest.text, item, version])
    }

    /// Reads the text of a stored request; `nil` if there is none any more, or none that can be read.
    private func body(_ sql: String, _ arguments: StatementArguments) throws -> JSONValue? {
        guard let row = try self.database.row(sql: sql, arguments), let text = row["body"] as Data? else { return nil }
        return try? JSONValue(parsing: text)
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

    // MARK: Audiences

    /// An audience without devices.
    private static let nobody = JSONValue.object(["not": .object(["all": .bool(true)])])

    /// Returns an audience in the form of a request without the user, and without tokens.
    private func without(_ tokens: Set<DeviceToken>, _ audience: JSONValue) -> JSONValue {
        func isUser(_ value: JSONValue) -> Bool { value == .string(self.user) }
        func isToken(_ value: JSONValue) -> Bool {
            guard !tokens.isEmpty, case .string(let text) = value else { return false }
            return DeviceToken(userInput: text).map(tokens.contains) ?? false
        }
        switch audience {
        case .object(var members):
            let kinds: [(one: String, many: String, isErased: (JSONValue) -> Bool)] = [
                ("user", "users", isUser), ("token", "tokens", isToken),
            ]
            for kind in kinds {
                if let name = members[kind.one], kind.isErased(name) { return Self.nobody }
                guard case .array(let names)? = members[kind.many] else { continue }
                let rest = names.filter { !kind.isErased($0) }
                if rest.isEmpty { return Self.nobody }
                members[kind.many] = .array(rest)
            }
            return .object(members.mapValues { self.without(tokens, $0) })
        case .array(let elements): return .array(elements.map { self.without(tokens, $0) })
        case .string, .integer, .number, .bool, .null: return audience
        }
    }
}
