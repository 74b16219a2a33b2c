package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package func isKnownNetwork(_ network: [UInt8]) async throws -> Bool {
        // Few rows: ten of each person.
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
                    person: try PersonRow.person(row),
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
            let sql = "INSERT OR REPLACE INTO signInLock (name, failures, at) VALUES (?, ?, ?)"
            try database.run(sql: sql, [code, lock.failures, lock.at.milliseconds])
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
            let arguments: StatementArguments = [renewed ?? password, person.id.uuidString, password]
            guard try database.run(sql: sql, arguments) == 1 else { return false }
            try PersonRow.begin(signIn, lock: lock, in: database)
            return true
        }
    }

    package func signIn(_ signIn: SignInRecord, key: UUID) async throws -> Bool {
        try await self.database.write { database in
            guard try database.hasRow(sql: "SELECT 1 FROM apiKey WHERE id = ?", [key.uuidString]) else { return false }
            try PersonRow.insert(signIn, in: database)
            return true
        }
    }

    package func session(hash: [UInt8]) async throws -> StoredSession? {
        try await self.database.lookup { database in
            guard let row = try database.row(sql: "SELECT * FROM session WHERE hash = ?", [Data(hash)]) else {
                return nil
            }
            let record = try Self.session(row)
            switch record.holder {
            case .person(let id):
                return try PersonRow.person(id, in: database).map { StoredSession(record: record, holder: .person($0)) }
            case .key(let id):
                let row = try database.row(sql: "SELECT * FROM apiKey WHERE id = ?", [id.uuidString])
                return try row.map { StoredSession(record: record, holder: .key(try Self.key($0))) }
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
        let (column, id) = PersonRow.column(of: holder)
        let sql = "SELECT * FROM session WHERE \(column) = ? ORDER BY lastUsedAt DESC, rowid DESC"
        return try await self.database.lookup { try $0.rows(sql: sql, [id]).map(Self.session) }
    }

    package func endSession(_ id: UUID, of holder: SessionHolder) async throws -> Bool {
        let (column, holder) = PersonRow.column(of: holder)
        let sql = "DELETE FROM session WHERE id = ? AND \(column) = ?"
        return try await self.database.run(sql: sql, [id.uuidString, holder]) == 1
    }

    package func endSessions(of holder: SessionHolder) async throws -> Int {
        let (column, id) = PersonRow.column(of: holder)
        return try await self.database.run(sql: "DELETE FROM session WHERE \(column) = ?", [id])
    }

    /// Returns the code by which the lock of a name is kept.
    func lockName(of name: String) -> String { self.masterKey.derive("signInLock/\(PersonRecord.key(of: name))") }

    /// The most names whose failures are remembered.
    private static let maximumLocks = 50_000

    /// Deletes locks that do not count any more, and the oldest ones where there are too many.
    private static func forgetLocks(now: Timestamp, in database: Database) throws {
        let end = now.advanced(by: .zero - SignInLock.memory).milliseconds
        try database.run(sql: "DELETE FROM signInLock WHERE at <= ?", [end])
        guard try database.count(sql: "SELECT count(*) FROM signInLock") > Self.maximumLocks else { return }
        let sql = "DELETE FROM signInLock WHERE name IN (SELECT name FROM signInLock ORDER BY at LIMIT 1000)"
        try database.run(sql: sql)
    }

    static func session(_ row: Row) throws -> SessionRecord {
        let holder = row.uuid("person").map(SessionHolder.person) ?? row.uuid("apiKey").map(SessionHolder.key)
        guard let holder, let id = row.uuid("id"), let createdAt = row.time("createdAt"),
            let lastUsedAt = row.time("lastUsedAt"), let expiresAt = row.time("expiresAt"),
            let agent = row["agent"] as String?
        else { throw DamagedRow(table: "session") }
        return SessionRecord(
            id: id,
            holder: holder,
            createdAt: createdAt,
            lastUsedAt: lastUsedAt,
            expiresAt: expiresAt,
            agent: agent
        )
    }
}
