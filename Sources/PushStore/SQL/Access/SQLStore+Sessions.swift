package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func isKnownNetwork(_ network: [UInt8]) async throws -> Bool {
        // The table has few rows: at most ten for each person.
        let sql = "SELECT 1 FROM personNetwork WHERE network = ? LIMIT 1"
        return try await self.database.lookup { try $0.hasRow(sql: sql, [Data(network)]) }
    }

    package func signInCandidate(name: String, network: [UInt8]) async throws -> SignInCandidate? {
        let sql = """
            SELECT person.*, EXISTS (
                SELECT 1 FROM personNetwork WHERE person = person.id AND network = ?) AS isKnownNetwork
            FROM person WHERE nameKey = ?
            """
        return try await self.database.lookup { database in
            try database.row(sql: sql, [Data(network), PersonRecord.key(of: name)]).map { row in
                SignInCandidate(
                    person: try PersonRecord(row: row),
                    password: row["password"],
                    isKnownNetwork: row["isKnownNetwork"] as Bool? ?? false
                )
            }
        }
    }

    package func changeSignInLock<Value: Sendable>(
        of name: String,
        now: Timestamp,
        _ change: @Sendable (inout SignInLock) -> Value
    ) async throws -> Value {
        let code = self.lockName(of: name)
        return try await self.database.write { database in
            let row = try database.row(sql: "SELECT failures, at FROM signInLock WHERE name = ?", [code])
            let before = row.flatMap { row -> SignInLock? in
                guard let failures = row["failures"] as Int?, let at = row.time("at") else { return nil }
                return SignInLock(failures: failures, at: at)
            }
            var lock = before ?? SignInLock()
            let value = change(&lock)
            guard lock != before else { return value }
            let values: ColumnValues = ["failures": lock.failures, "at": lock.at.milliseconds]
            try database.replace(in: "signInLock", key: ["name": code], values)
            if before == nil { try Self.forgetLocks(now: now, in: database) }
            return value
        }
    }

    package func signIn(
        _ signIn: SignInRecord,
        _ person: PersonRecord,
        password: String,
        renewed: String?
    ) async throws -> Bool {
        let lock = self.lockName(of: person.name)
        let sql = "UPDATE person SET password = ? WHERE id = ? AND password = ? AND isDisabled = 0"
        return try await self.database.write { database in
            let people = PersonRows(database: database)
            let arguments: SQLArguments = [renewed ?? password, person.id.uuidString, password]
            guard try database.run(sql: sql, arguments) == 1 else { return false }
            try people.begin(signIn, lock: lock)
            return true
        }
    }

    package func signIn(_ signIn: SignInRecord, key: UUID) async throws -> Bool {
        try await self.database.write { database in
            let people = PersonRows(database: database)
            guard try database.hasRow(sql: "SELECT 1 FROM apiKey WHERE id = ?", [key.uuidString]) else { return false }
            try people.insert(signIn)
            return true
        }
    }

    package func session(hash: [UInt8]) async throws -> StoredSession? {
        try await self.database.lookup { database in
            guard let row = try database.row(sql: "SELECT * FROM session WHERE hash = ?", [Data(hash)])
            else { return nil }
            let record = try SessionRecord(row: row)
            switch record.holder {
            case .person(let id):
                let person = try PersonRecord.find(id, in: database)
                return person.map { StoredSession(record: record, holder: .person($0)) }
            case .key(let id):
                let key = try APIKeyRecord.find(id, in: database)
                return key.map { StoredSession(record: record, holder: .key($0)) }
            }
        }
    }

    package func setLastUse(of session: UUID, _ used: Timestamp, now: Timestamp) async throws {
        try await self.database.write { database in
            let sql = "UPDATE session SET lastUsedAt = max(lastUsedAt, ?) WHERE id = ?"
            try database.run(sql: sql, [used.milliseconds, session.uuidString])
            let seen = "UPDATE person SET lastSeenAt = ? WHERE id = (SELECT person FROM session WHERE id = ?)"
            try database.run(sql: seen, [now.milliseconds, session.uuidString])
        }
    }

    package func sessions(of holder: SessionHolder) async throws -> [SessionRecord] {
        let (column, id) = PersonRows.column(of: holder)
        // An engine without row ids has a column `rowid` that counts the rows of this table.
        let sql = "SELECT * FROM session WHERE \(column) = ? ORDER BY lastUsedAt DESC, rowid DESC"
        return try await self.database.lookup { try $0.rows(sql: sql, [id]).map(SessionRecord.init(row:)) }
    }

    package func endSession(_ id: UUID, of holder: SessionHolder) async throws -> Bool {
        let (column, holder) = PersonRows.column(of: holder)
        let sql = "DELETE FROM session WHERE id = ? AND \(column) = ?"
        return try await self.database.run(sql: sql, [id.uuidString, holder]) == 1
    }

    package func endSessions(of holder: SessionHolder) async throws -> Int {
        let (column, id) = PersonRows.column(of: holder)
        return try await self.database.run(sql: "DELETE FROM session WHERE \(column) = ?", [id])
    }

    /// Returns the keyed hash of a person's name, under which the name's sign-in lock is stored.
    func lockName(of name: String) -> String { self.masterKey.derive("signInLock/\(PersonRecord.key(of: name))") }

    /// The number of sign-in locks above which the oldest 1,000 are deleted.
    private static let maximumLocks = 50_000

    /// Deletes the locks that have expired and, above ``maximumLocks``, the oldest ones.
    private static func forgetLocks(now: Timestamp, in database: any SQLConnection) throws {
        let end = now.advanced(by: .zero - SignInLock.memory).milliseconds
        try database.run(sql: "DELETE FROM signInLock WHERE at <= ?", [end])
        guard try database.count(sql: "SELECT count(*) FROM signInLock") > Self.maximumLocks else { return }
        let sql = "DELETE FROM signInLock WHERE name IN (SELECT name FROM signInLock ORDER BY at LIMIT 1000)"
        try database.run(sql: sql)
    }
}

extension SessionRecord: StoredRecord {
    static let table = "session"

    init(_ row: StoredRow) throws {
        let (person, key): (UUID?, UUID?) = (row["person"], row["apiKey"])
        self.init(
            id: try row.get("id"),
            holder: try row.need(person.map(SessionHolder.person) ?? key.map(SessionHolder.key)),
            createdAt: try row.get("createdAt"),
            lastUsedAt: try row.get("lastUsedAt"),
            expiresAt: try row.get("expiresAt"),
            agent: try row.get("agent")
        )
    }
}

/// Reads and writes the sessions of people and API keys, within a transaction.
extension PersonRows {
    /// The maximum number of sign-in networks that are stored for each person. Beyond it, the network that has been
    /// unused for the longest time is forgotten.
    private static let maximumNetworks = 10

    /// Begins a session. For a person, it also removes the sign-in lock `lock` and stores the client's network.
    func begin(_ signIn: SignInRecord, lock: String) throws {
        try self.insert(signIn)
        guard case .person(let person) = signIn.session.holder else { return }
        let (id, now) = (person.uuidString, signIn.now.milliseconds)
        try self.database.run(sql: "DELETE FROM signInLock WHERE name = ?", [lock])
        try self.database.run(sql: "UPDATE person SET lastSeenAt = ? WHERE id = ?", [now, id])
        let network: ColumnValues = ["person": id, "network": Data(signIn.network)]
        try self.database.replace(in: "personNetwork", key: network, ["at": now])
        let forget = """
            DELETE FROM personNetwork WHERE person = ?1 AND network NOT IN (
                SELECT network FROM personNetwork WHERE person = ?1 ORDER BY at DESC, network LIMIT ?2)
            """
        try self.database.run(sql: forget, [id, Self.maximumNetworks])
    }

    /// Inserts a session, and deletes sessions that have expired or exceed the maximum number.
    func insert(_ signIn: SignInRecord) throws {
        let session = signIn.session
        let now = session.createdAt.milliseconds
        let (column, id) = Self.column(of: session.holder)
        try self.database.insert(
            into: "session",
            [
                "id": session.id.uuidString, "hash": Data(signIn.hash), column: id, "createdAt": now,
                "lastUsedAt": session.lastUsedAt.milliseconds, "expiresAt": session.expiresAt.milliseconds,
                "agent": session.agent,
            ]
        )
        let idle = session.createdAt.advanced(by: .zero - signIn.idle).milliseconds
        try self.database.run(sql: "DELETE FROM session WHERE expiresAt <= ? OR lastUsedAt <= ?", [now, idle])
        let surplus = """
            DELETE FROM session WHERE \(column) = ?1 AND id NOT IN (
                SELECT id FROM session WHERE \(column) = ?1 ORDER BY lastUsedAt DESC, rowid DESC LIMIT ?2)
            """
        try self.database.run(sql: surplus, [id, SessionRecord.maximumCount])
    }

    /// Returns the name of the column that identifies the holder of a session, and the holder's id.
    static func column(of holder: SessionHolder) -> (name: String, id: String) {
        switch holder {
        case .person(let id): ("person", id.uuidString)
        case .key(let id): ("apiKey", id.uuidString)
        }
    }
}
