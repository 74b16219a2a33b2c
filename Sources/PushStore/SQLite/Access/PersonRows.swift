import Foundation
import GRDB
import ProviderModel
import PushTypes

/// Reads and writes people with their links and sessions, within a transaction.
struct PersonRows {
    /// The maximum number of sign-in networks that are stored for each person.
    private static let maximumNetworks = 10

    let database: Database

    func any() throws -> Bool { try self.database.hasRow(sql: "SELECT 1 FROM person LIMIT 1") }

    /// Returns `true` if no other person than the one with this id has the name.
    func isFree(_ name: String, for id: UUID) throws -> Bool {
        let sql = "SELECT 1 FROM person WHERE nameKey = ? AND id != ?"
        return try !self.database.hasRow(sql: sql, [PersonRecord.key(of: name), id.uuidString])
    }

    /// Returns `true` if there is a lasting admin (``PersonRecord/isLastingAdmin``) other than this person.
    func hasLastingAdmin(besides id: UUID) throws -> Bool {
        let sql = """
            SELECT 1 FROM person
            WHERE id != ? AND role = 'admin' AND apps IS NULL AND password IS NOT NULL AND isDisabled = 0
            """
        return try self.database.hasRow(sql: sql, [id.uuidString])
    }

    /// Inserts a person.
    /// - Parameter password: The hashed password; `nil` if the person has to choose one.
    /// - Returns: The assigned number of the person.
    func insert(_ person: PersonRecord, password: String?) throws -> Int64 {
        var columns: ColumnValues = [
            "id": person.id.uuidString, "password": password, "createdAt": person.createdAt.milliseconds,
        ]
        columns += person.columns
        return try self.database.insert(into: "person", columns)
    }

    /// Updates the changeable columns of a person, except the password.
    func update(_ person: PersonRecord) throws {
        try self.database.update("person", person.columns, id: person.id.uuidString)
    }

    /// Stores a link, replacing the person's earlier one. A link without a person is for creating the first person.
    func insert(_ link: LinkRecord) throws {
        try self.database.run(sql: "DELETE FROM personLink WHERE person IS ?", [link.person?.uuidString])
        try self.database.insert(
            into: "personLink",
            ["hash": Data(link.hash), "person": link.person?.uuidString, "expiresAt": link.expiresAt.milliseconds]
        )
    }

    /// Returns the purpose of the link with this hash; `nil` if there is none, or if it cannot be redeemed.
    func link(_ hash: [UInt8], now: Timestamp) throws -> ValidLink? {
        let sql = "SELECT person FROM personLink WHERE hash = ? AND expiresAt > ?"
        guard let row = try self.database.row(sql: sql, [Data(hash), now.milliseconds]) else { return nil }
        guard let id = row.uuid("person") else { return try self.any() ? nil : .firstAdmin }
        guard let person = try PersonRecord.find(id, in: self.database), !person.isDisabled else { return nil }
        return .person(person)
    }

    /// Ends all sessions of a person.
    /// - Parameter links: Whether the person's link becomes invalid, too.
    func endAccess(of person: UUID, links: Bool) throws {
        try self.database.run(sql: "DELETE FROM session WHERE person = ?", [person.uuidString])
        if links { try self.database.run(sql: "DELETE FROM personLink WHERE person = ?", [person.uuidString]) }
    }

    /// Begins a session. For a person, it also removes the lock under the name `lock`, and stores the client's network.
    func begin(_ signIn: SignInRecord, lock: String) throws {
        try self.insert(signIn)
        guard case .person(let person) = signIn.session.holder else { return }
        let (id, now) = (person.uuidString, signIn.now.milliseconds)
        try self.database.run(sql: "DELETE FROM signInLock WHERE name = ?", [lock])
        try self.database.run(sql: "UPDATE person SET lastSeenAt = ? WHERE id = ?", [now, id])
        try self.database.replace(in: "personNetwork", ["person": id, "network": Data(signIn.network), "at": now])
        let forget = """
            DELETE FROM personNetwork WHERE person = ?1 AND network NOT IN (
                SELECT network FROM personNetwork WHERE person = ?1 ORDER BY at DESC, network LIMIT ?2)
            """
        try self.database.run(sql: forget, [id, Self.maximumNetworks])
    }

    /// Writes a session, and deletes sessions that have expired or exceed the maximum number.
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

    /// Returns the name of the column that identifies the holder of a session, with the holder's id.
    static func column(of holder: SessionHolder) -> (name: String, id: String) {
        switch holder {
        case .person(let id): ("person", id.uuidString)
        case .key(let id): ("apiKey", id.uuidString)
        }
    }
}

extension PersonRecord: StoredRecord {
    static let table = "person"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            number: try row.get("number"),
            name: try row.get("name"),
            role: try row.get(raw: "role"),
            apps: (row["apps"] as String?).map(Set<Topic>.init(stored:)),
            hasPassword: row["password"] as String? != nil,
            createdAt: try row.get("createdAt"),
            lastSeenAt: row["lastSeenAt"],
            isDisabled: row["isDisabled"] ?? true,
            language: row["language"]
        )
    }

    /// The changeable columns, except the password.
    fileprivate var columns: ColumnValues {
        [
            "name": self.name, "nameKey": Self.key(of: self.name), "role": self.role.rawValue,
            "apps": self.apps?.stored, "isDisabled": self.isDisabled, "language": self.language,
        ]
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
