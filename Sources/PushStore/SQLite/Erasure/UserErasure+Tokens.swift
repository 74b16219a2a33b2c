import GRDB
import PushTypes

/// The tokens of a user, and what is counted for the user and the user's devices.
extension UserErasure {
    /// Returns the tokens that the user's devices have or had, of those that are erased and of those that will be.
    func allTokens() throws -> Set<DeviceToken> {
        try self.tokens().union(self.tokens(of: try self.devices(limit: .max)))
    }

    /// Returns the tokens that the user's devices have or had and that are no other device's now, whose requests may name
    /// them.
    func ownTokens() throws -> Set<DeviceToken> {
        let own = Set(try self.devices(limit: .max))
        let sql = "SELECT id FROM device WHERE app = ? AND token = ? AND hasLeft = 0"
        return try self.allTokens().filter { token in
            try self.database.integers(sql: sql, [self.app, token.databaseValue]).allSatisfy(own.contains)
        }
    }

    /// Returns the tokens that the user's erased devices had.
    func tokens() throws -> Set<DeviceToken> {
        let row = try self.database.row(sql: "SELECT tokens FROM erasure WHERE id = ?", [self.id])
        guard let row, let texts = row["tokens"] as String? else { return [] }
        return Set(texts.split(separator: " ").compactMap { DeviceToken(hex: String($0)) })
    }

    /// Returns the tokens that devices have or had.
    func tokens(of devices: [Int64]) throws -> Set<DeviceToken> {
        guard !devices.isEmpty else { return [] }
        let ids = devices.map(String.init).joined(separator: ", ")
        let sql = """
            SELECT token FROM device WHERE id IN (\(ids))
            UNION SELECT token FROM tokenEvent WHERE app = ?1 AND device IN (\(ids))
            UNION SELECT token FROM formerToken WHERE app = ?1 AND device IN (\(ids))
            """
        return Set(try self.database.rows(sql: sql, [self.app], isKept: false).compactMap { $0.token("token") })
    }

    /// Forgets tokens that others have registered since the request, before the request is extended to what there is now.
    func releaseTokens() throws {
        let sql = """
            SELECT 1 FROM device WHERE app = ? AND token = ? AND user IS NOT ?
                AND id > (SELECT lastDevice FROM erasure WHERE id = ?)
            """
        let tokens = try self.tokens()
        let taken = try tokens.filter { token in
            try self.database.hasRow(sql: sql, [self.app, token.databaseValue, self.user, self.id])
        }
        for token in taken { try self.erase(token) }
        if !taken.isEmpty { try self.remember(tokens.subtracting(taken)) }
    }

    func remember(_ tokens: Set<DeviceToken>) throws {
        let text = tokens.map(\.hex).sorted().joined(separator: " ")
        try self.database.run(sql: "UPDATE erasure SET tokens = ? WHERE id = ?", [text, self.id])
    }

    /// Erases the counts of the user, unless they may be from after the user came back.
    func eraseCounts() throws {
        guard try !self.hasReturned() else { return }
        try self.eraseCounts(of: "user:\(self.user)")
    }

    func eraseCounts(of holder: String) throws {
        for table in StoredTable.names(with: .holder) {
            try self.database.run(sql: "DELETE FROM \(table) WHERE app = ? AND holder = ?", [self.app, holder])
        }
        let sql = "DELETE FROM badgeStep WHERE holder = ?1 AND \(Self.isOfApp("badgeStep"))"
        try self.database.run(sql: sql, [holder, self.app])
    }

    /// Returns the condition that a row belongs to a notification of the app (`?2`). Its table has only rows of
    /// notifications in progress, or an index by what else is asked.
    private static func isOfApp(_ table: String) -> String {
        "EXISTS (SELECT 1 FROM notification WHERE number = \(table).notification AND app = ?2)"
    }

    /// Erases what is kept of a token from before the request. A notification that names it and has not sent to it yet
    /// skips it: its place is empty.
    ///
    /// The token may have been registered again since, as a device of another user.
    func erase(_ token: DeviceToken) throws {
        let isEarlier = "device <= (SELECT lastDevice FROM erasure WHERE id = ?3)"
        let isNamed = "notification <= (SELECT lastNotification FROM erasure WHERE id = ?3)"
        for sql in [
            "DELETE FROM tokenEvent WHERE token = ?1 AND app = ?2 AND \(isEarlier)",
            "DELETE FROM formerToken WHERE token = ?1 AND app = ?2 AND \(isEarlier)",
            "DELETE FROM tokenHad WHERE token = ?1 AND \(Self.isOfApp("tokenHad")) AND \(isEarlier)",
            "UPDATE target SET token = x'' WHERE token = ?1 AND \(Self.isOfApp("target")) AND \(isNamed)",
        ] {
            try self.database.run(sql: sql, [token.databaseValue, self.app, self.id])
        }
    }
}
