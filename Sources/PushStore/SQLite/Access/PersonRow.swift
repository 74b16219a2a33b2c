import Foundation
import GRDB
import PushTypes

/// The rows of people, and the statements that several transactions share.
enum PersonRow {
    /// The most networks of a person that are remembered.
    private static let maximumNetworks = 10

    static func person(_ row: Row) throws -> PersonRecord {
        guard let id = row.uuid("id"), let number = row["number"] as Int64?, let name = row["name"] as String?,
            let role = row.value("role") as PersonRole?, let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "person") }
        return PersonRecord(
            id: id,
            number: number,
            name: name,
            role: role,
            apps: (row["apps"] as String?).map { Set($0.split(separator: " ").compactMap { Topic(String($0)) }) },
            hasPassword: row["password"] as String? != nil,
            createdAt: createdAt,
            lastSeenAt: row.time("lastSeenAt"),
            isDisabled: row["isDisabled"] as Bool? ?? true,
            language: row["language"]
        )
    }

    static func person(_ id: UUID, in database: Database) throws -> PersonRecord? {
        try database.row(sql: "SELECT * FROM person WHERE id = ?", [id.uuidString]).map(Self.person)
    }

    /// Returns `true` if there is any person.
    static func any(in database: Database) throws -> Bool { try database.hasRow(sql: "SELECT 1 FROM person LIMIT 1") }

    /// Returns `true` if no other person has a name.
    static func isFree(_ name: String, for id: UUID, in database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM person WHERE nameKey = ? AND id != ?"
        return try !database.hasRow(sql: sql, [PersonRecord.key(of: name), id.uuidString])
    }

    /// Returns `true` if there is another ``PersonRecord/isLastingAdmin`` person.
    static func hasLastingAdmin(besides id: UUID, in database: Database) throws -> Bool {
        let sql = """
            SELECT 1 FROM person
            WHERE id != ? AND role = 'admin' AND apps IS NULL AND password IS NOT NULL AND isDisabled = 0
            """
        return try database.hasRow(sql: sql, [id.uuidString])
    }

    /// - Returns: The number of the person.
    static func insert(_ person: PersonRecord, password: String?, in database: Database) throws -> Int64 {
        try database.insert(
            into: "person",
            [
                "id": person.id.uuidString, "name": person.name, "nameKey": PersonRecord.key(of: person.name),
                "role": person.role.rawValue, "apps": SQLiteStore.text(person.apps), "password": password,
                "createdAt": person.createdAt.milliseconds, "isDisabled": person.isDisabled,
                "language": person.language,
            ]
        )
    }

    /// Writes what can be changed of a person, without the password.
    static func update(_ person: PersonRecord, in database: Database) throws {
        try database.update(
            "person",
            [
                "name": person.name, "nameKey": PersonRecord.key(of: person.name), "role": person.role.rawValue,
                "apps": SQLiteStore.text(person.apps), "isDisabled": person.isDisabled, "language": person.language,
            ],
            id: person.id.uuidString
        )
    }

    /// Writes a link in place of the earlier one for the same.
    static func insert(_ link: LinkRecord, in database: Database) throws {
        try database.run(sql: "DELETE FROM personLink WHERE person IS ?", [link.person?.uuidString])
        try database.insert(
            into: "personLink",
            [
                "hash": Data(link.hash), "person": link.person?.uuidString, "expiresAt": link.expiresAt.milliseconds,
            ]
        )
    }

    /// Ends all sessions of a person.
    /// - Parameter links: Whether the person's link ends too.
    static func endAccess(of person: UUID, links: Bool, in database: Database) throws {
        try database.run(sql: "DELETE FROM session WHERE person = ?", [person.uuidString])
        if links { try database.run(sql: "DELETE FROM personLink WHERE person = ?", [person.uuidString]) }
    }

    /// Begins a session of a person, forgets the lock of the name and remembers the network.
    static func begin(_ signIn: SignInRecord, lock: String, in database: Database) throws {
        try Self.insert(signIn, in: database)
        guard case .person(let person) = signIn.session.holder else { return }
        let (id, now) = (person.uuidString, signIn.now.milliseconds)
        try database.run(sql: "DELETE FROM signInLock WHERE name = ?", [lock])
        try database.run(sql: "UPDATE person SET lastSeenAt = ? WHERE id = ?", [now, id])
        let remember = "INSERT OR REPLACE INTO personNetwork (person, network, at) VALUES (?, ?, ?)"
        try database.run(sql: remember, [id, Data(signIn.network), now])
        let forget = """
            DELETE FROM personNetwork WHERE person = ?1 AND network NOT IN (
                SELECT network FROM personNetwork WHERE person = ?1 ORDER BY at DESC, network LIMIT ?2)
            """
        try database.run(sql: forget, [id, Self.maximumNetworks])
    }

    /// Writes a session, and deletes those that have expired or that are too many.
    static func insert(_ signIn: SignInRecord, in database: Database) throws {
        let session = signIn.session
        let now = session.createdAt.milliseconds
        let (column, id) = Self.column(of: session.holder)
        try database.insert(
            into: "session",
            [
                "id": session.id.uuidString, "hash": Data(signIn.hash), column: id, "createdAt": now,
                "lastUsedAt": session.lastUsedAt.milliseconds, "expiresAt": session.expiresAt.milliseconds,
                "agent": session.agent,
            ]
        )
        let idle = session.createdAt.advanced(by: .zero - signIn.idle).milliseconds
        try database.run(sql: "DELETE FROM session WHERE expiresAt <= ? OR lastUsedAt <= ?", [now, idle])
        let surplus = """
            DELETE FROM session WHERE \(column) = ?1 AND id NOT IN (
                SELECT id FROM session WHERE \(column) = ?1 ORDER BY lastUsedAt DESC, rowid DESC LIMIT ?2)
            """
        try database.run(sql: surplus, [id, SessionRecord.maximumCount])
    }

    /// Returns the column of a session that names its holder, and the holder's id.
    static func column(of holder: SessionHolder) -> (name: String, id: String) {
        switch holder {
        case .person(let id): ("person", id.uuidString)
        case .key(let id): ("apiKey", id.uuidString)
        }
    }
}
