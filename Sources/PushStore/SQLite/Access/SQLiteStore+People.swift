package import Foundation
import GRDB
package import PushTypes

extension SQLiteStore {
    package var passwordSecret: String { self.masterKey.derive("password") }

    package func addPerson(_ person: PersonRecord, link: LinkRecord) async throws -> PersonRecord? {
        try await self.database.write { database in
            try Self.checkApps(person.apps ?? [], in: database)
            guard try PersonRow.isFree(person.name, for: person.id, in: database) else { return nil }
            var person = person
            person.number = try PersonRow.insert(person, password: nil, in: database)
            try PersonRow.insert(link, in: database)
            return person
        }
    }

    package func person(_ id: UUID) async throws -> PersonRecord? {
        try await self.database.lookup { try PersonRow.person(id, in: $0) }
    }

    package func people(after: Int64?, limit: Int) async throws -> [PersonRecord] {
        let sql = "SELECT * FROM person WHERE number > ? ORDER BY number LIMIT ?"
        return try await self.database.lookup { try $0.rows(sql: sql, [after ?? 0, limit]).map(PersonRow.person) }
    }

    package func changePerson(
        _ id: UUID,
        _ change: @Sendable (inout PersonRecord) -> Void
    ) async throws -> PersonChange {
        try await self.database.write { database in
            guard let before = try PersonRow.person(id, in: database) else { return .missing }
            var after = before
            change(&after)
            try Self.checkApps((after.apps ?? []).subtracting(before.apps ?? []), in: database)
            guard try PersonRow.isFree(after.name, for: id, in: database) else { return .nameTaken }
            if before.isLastingAdmin, !after.isLastingAdmin {
                guard try PersonRow.hasLastingAdmin(besides: id, in: database) else { return .lastAdmin }
            }
            try PersonRow.update(after, in: database)
            let rights = (before.role, before.apps, before.isDisabled) != (after.role, after.apps, after.isDisabled)
            if rights { try PersonRow.endAccess(of: id, links: after.isDisabled, in: database) }
            return .changed(after)
        }
    }

    package func deletePerson(_ id: UUID) async throws -> PersonDeletion {
        try await self.database.write { database in
            guard let person = try PersonRow.person(id, in: database) else { return .missing }
            guard try !person.isLastingAdmin || PersonRow.hasLastingAdmin(besides: id, in: database) else {
                return .lastAdmin
            }
            // The sessions, links and networks go with the row.
            try database.run(sql: "DELETE FROM person WHERE id = ?", [id.uuidString])
            return .deleted
        }
    }

    package func setPassword(_ new: String, of person: UUID, replacing old: String) async throws -> Bool {
        let sql = "UPDATE person SET password = ? WHERE id = ? AND password = ? AND isDisabled = 0"
        return try await self.database.write { database in
            guard try database.run(sql: sql, [new, person.uuidString, old]) == 1 else { return false }
            try PersonRow.endAccess(of: person, links: true, in: database)
            return true
        }
    }

    package func password(of person: UUID) async throws -> String? {
        let sql = "SELECT password FROM person WHERE id = ? AND isDisabled = 0"
        return try await self.database.lookup { try $0.row(sql: sql, [person.uuidString])?["password"] }
    }
}

// MARK: Links

extension SQLiteStore {
    package func setLink(_ link: LinkRecord) async throws -> Bool {
        try await self.database.write { database in
            if let person = link.person {
                guard try PersonRow.person(person, in: database)?.isDisabled == false else { return false }
            } else {
                guard try !PersonRow.any(in: database) else { return false }
            }
            try PersonRow.insert(link, in: database)
            return true
        }
    }

    package func link(hash: [UInt8], now: Timestamp) async throws -> ValidLink? {
        try await self.database.lookup { try Self.link(hash, now: now, in: $0) }
    }

    package func redeem(
        link: [UInt8],
        for person: PersonRecord,
        password: String,
        _ signIn: SignInRecord
    ) async throws -> PersonRecord? {
        let lock = self.lockName(of: person.name)
        return try await self.database.write { database in
            switch try Self.link(link, now: signIn.session.createdAt, in: database) {
            case nil: return nil
            case .firstAdmin: _ = try PersonRow.insert(person, password: password, in: database)
            case .person(let invited):
                guard invited.id == person.id else { return nil }
                try database.update("person", ["password": password], id: person.id.uuidString)
            }
            try database.run(sql: "DELETE FROM personLink WHERE person IS NULL OR hash = ?", [Data(link)])
            try PersonRow.endAccess(of: person.id, links: true, in: database)
            try PersonRow.begin(signIn, lock: lock, in: database)
            return try PersonRow.person(person.id, in: database)
        }
    }

    /// Returns a link that can be redeemed.
    private static func link(_ hash: [UInt8], now: Timestamp, in database: Database) throws -> ValidLink? {
        let sql = "SELECT person FROM personLink WHERE hash = ? AND expiresAt > ?"
        guard let row = try database.row(sql: sql, [Data(hash), now.milliseconds]) else { return nil }
        guard let id = row.uuid("person") else { return try PersonRow.any(in: database) ? nil : .firstAdmin }
        guard let person = try PersonRow.person(id, in: database), !person.isDisabled else { return nil }
        return .person(person)
    }
}
