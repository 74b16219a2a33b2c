package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package var passwordSecret: String { self.masterKey.derive("password") }

    package func addPerson(_ person: PersonRecord, link: LinkRecord) async throws -> PersonRecord? {
        try await self.database.write { database in
            let people = PersonRows(database: database)
            try AppRows(database: database).check(person.apps ?? [])
            guard try people.isFree(person.name, for: person.id) else { return nil }
            var person = person
            person.number = try people.insert(person, password: nil)
            try people.insert(link)
            return person
        }
    }

    package func person(_ id: UUID) async throws -> PersonRecord? {
        try await self.database.lookup { try PersonRecord.find(id, in: $0) }
    }

    package func people(after: Int64?, limit: Int) async throws -> [PersonRecord] {
        let sql = "SELECT * FROM person WHERE number > ? ORDER BY number LIMIT ?"
        return try await self.database.lookup { database in
            try database.rows(sql: sql, [after ?? 0, limit]).map(PersonRecord.init(row:))
        }
    }

    package func changePerson(
        _ id: UUID,
        _ change: @escaping @Sendable (inout PersonRecord) -> Void
    ) async throws -> PersonChangeResult {
        try await self.database.write { database in
            let people = PersonRows(database: database)
            guard let before = try PersonRecord.find(id, in: database) else { return .missing }
            var after = before
            change(&after)
            try AppRows(database: database).check((after.apps ?? []).subtracting(before.apps ?? []))
            guard try people.isFree(after.name, for: id) else { return .nameTaken }
            if before.isLastingAdmin, !after.isLastingAdmin {
                guard try people.hasLastingAdmin(besides: id) else { return .lastAdmin }
            }
            try people.update(after)
            let rights = (before.role, before.apps, before.isDisabled) != (after.role, after.apps, after.isDisabled)
            if rights { try people.endAccess(of: id, links: after.isDisabled) }
            return .changed(after)
        }
    }

    package func deletePerson(_ id: UUID) async throws -> PersonDeletionResult {
        try await self.database.write { database in
            let people = PersonRows(database: database)
            guard let person = try PersonRecord.find(id, in: database) else { return .missing }
            guard try !person.isLastingAdmin || people.hasLastingAdmin(besides: id) else { return .lastAdmin }
            // The sessions, links and networks are deleted with the row.
            try database.run(sql: "DELETE FROM person WHERE id = ?", [id.uuidString])
            return .deleted
        }
    }

    package func setPassword(_ new: String, of person: UUID, replacing old: String) async throws -> Bool {
        let sql = "UPDATE person SET password = ? WHERE id = ? AND password = ? AND isDisabled = 0"
        return try await self.database.write { database in
            let people = PersonRows(database: database)
            guard try database.run(sql: sql, [new, person.uuidString, old]) == 1 else { return false }
            try people.endAccess(of: person, links: true)
            return true
        }
    }

    package func password(of person: UUID) async throws -> String? {
        let sql = "SELECT password FROM person WHERE id = ? AND isDisabled = 0"
        return try await self.database.lookup { try $0.row(sql: sql, [person.uuidString])?["password"] }
    }

    // MARK: Links

    package func setLink(_ link: LinkRecord) async throws -> Bool {
        try await self.database.write { database in
            let people = PersonRows(database: database)
            if let person = link.person {
                guard try PersonRecord.find(person, in: database)?.isDisabled == false else { return false }
            } else {
                guard try !people.any() else { return false }
            }
            try people.insert(link)
            return true
        }
    }

    package func link(hash: [UInt8], now: Timestamp) async throws -> ValidLink? {
        try await self.database.lookup { try PersonRows(database: $0).link(hash, now: now) }
    }

    package func redeem(
        link: [UInt8],
        for person: PersonRecord,
        password: String,
        _ signIn: SignInRecord
    ) async throws -> PersonRecord? {
        let lock = self.lockName(of: person.name)
        return try await self.database.write { database in
            let people = PersonRows(database: database)
            switch try people.link(link, now: signIn.session.createdAt) {
            case nil: return nil
            case .firstAdmin: _ = try people.insert(person, password: password)
            case .person(let invited):
                guard invited.id == person.id else { return nil }
                try database.update("person", ["password": password], id: person.id.uuidString)
            }
            try database.run(sql: "DELETE FROM personLink WHERE person IS NULL OR hash = ?", [Data(link)])
            try people.endAccess(of: person.id, links: true)
            try people.begin(signIn, lock: lock)
            return try PersonRecord.find(person.id, in: database)
        }
    }
}

/// Reads and writes people with their links and sessions, within a transaction.
struct PersonRows {
    let database: any SQLConnection

    func any() throws -> Bool { try self.database.hasRow(sql: "SELECT 1 FROM person LIMIT 1") }

    /// Returns whether a name is unused, except possibly by the person with this id.
    func isFree(_ name: String, for id: UUID) throws -> Bool {
        let sql = "SELECT 1 FROM person WHERE nameKey = ? AND id != ?"
        return try !self.database.hasRow(sql: sql, [PersonRecord.key(of: name), id.uuidString])
    }

    func hasLastingAdmin(besides id: UUID) throws -> Bool {
        let sql = """
            SELECT 1 FROM person
            WHERE id != ? AND role = 'admin' AND apps IS NULL AND password IS NOT NULL AND isDisabled = 0
            """
        return try self.database.hasRow(sql: sql, [id.uuidString])
    }

    /// Inserts a person.
    /// - Parameter password: The hashed password, or `nil` if the person has to choose one.
    /// - Returns: The assigned number of the person.
    func insert(_ person: PersonRecord, password: String?) throws -> Int64 {
        var columns: ColumnValues = [
            "id": person.id.uuidString, "password": password, "createdAt": person.createdAt.milliseconds,
        ]
        columns += person.columns
        return try self.database.insert(into: "person", columns, returning: "number")
    }

    func update(_ person: PersonRecord) throws {
        try self.database.update("person", person.columns, id: person.id.uuidString)
    }

    /// Stores a link in place of the person's earlier one. A link without a person is for creating the first person.
    func insert(_ link: LinkRecord) throws {
        try self.database.run(sql: "DELETE FROM personLink WHERE person IS ?", [link.person?.uuidString])
        try self.database.insert(
            into: "personLink",
            ["hash": Data(link.hash), "person": link.person?.uuidString, "expiresAt": link.expiresAt.milliseconds]
        )
    }

    /// Returns the purpose of the link with this hash, or `nil` if there is no such link or it cannot be redeemed.
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

    fileprivate var columns: ColumnValues {
        [
            "name": self.name, "nameKey": Self.key(of: self.name), "role": self.role.rawValue,
            "apps": self.apps?.stored, "isDisabled": self.isDisabled, "language": self.language,
        ]
    }
}
