package import Foundation
import GRDB
import PushTypes

extension SQLiteStore {
    package func addPublication(_ publication: PublicationRecord) async throws -> PublicationAddition {
        try await self.database.write { database in
            guard try Self.hasApp(publication.app, in: database) else { return .noApp }
            let others = try database.count(sql: "SELECT count(*) FROM publication WHERE app = ?", [publication.app])
            guard others < PublicationRecord.maximumOfApp else { return .tooMany }
            try database.insert(
                into: "publication",
                [
                    "id": publication.id.uuidString, "app": publication.app, "name": publication.name,
                    "account": publication.account, "waveSize": publication.waves.size,
                    "waveInterval": publication.waves.interval,
                    "maximumBandwidth": publication.waves.maximumBandwidth,
                    "maximumDownloads": publication.waves.maximumDownloads,
                    "subscriptionProducts": publication.storedSubscriptions,
                    "createdAt": publication.createdAt.milliseconds,
                ]
            )
            return .added
        }
    }

    package func publications(app: Int64) async throws -> [PublicationRecord] {
        try await self.database.lookup { database in
            try database.rows(sql: "SELECT * FROM publication WHERE app = ? ORDER BY name, id", [app])
                .compactMap { try $0.readable(Self.publication) }
        }
    }

    package func publication(_ id: UUID) async throws -> PublicationRecord? {
        try await self.database.lookup { try Self.publication(id, in: $0) }
    }

    package func changePublication(_ id: UUID, _ changes: PublicationChanges) async throws -> PublicationRecord? {
        try await self.database.write { database in
            guard var publication = try Self.publication(id, in: database) else { return nil }
            let shown = (publication.name, publication.account)
            changes.apply(to: &publication)
            try database.update(
                "publication",
                [
                    "name": publication.name, "account": publication.account, "waveSize": publication.waves.size,
                    "waveInterval": publication.waves.interval,
                    "maximumBandwidth": publication.waves.maximumBandwidth,
                    "maximumDownloads": publication.waves.maximumDownloads,
                    "subscriptionProducts": publication.storedSubscriptions,
                ],
                id: id.uuidString
            )
            if shown != (publication.name, publication.account) {
                try Self.catalogueChanged(app: publication.app, in: database)
            }
            return publication
        }
    }

    package func deletePublication(_ id: UUID) async throws -> PublicationDeletion {
        try await self.database.write { database in
            let hasIssues = try database.hasRow(
                sql: "SELECT 1 FROM issue WHERE publication = ? LIMIT 1",
                [id.uuidString]
            )
            guard !hasIssues else { return .hasIssues }
            let count = try database.run(sql: "DELETE FROM publication WHERE id = ?", [id.uuidString])
            return count > 0 ? .deleted : .missing
        }
    }

    /// Notes that the catalogue of an app may show something else now, within a transaction.
    static func catalogueChanged(app: Int64, in database: Database) throws {
        // The time in milliseconds, so that a restored database gives no version a second meaning.
        let sql = """
            INSERT INTO catalogue (app, version) VALUES (?, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))
            ON CONFLICT DO UPDATE SET version = max(version + 1, excluded.version)
            """
        try database.run(sql: sql, [app])
    }

    static func publication(_ id: UUID, in database: Database) throws -> PublicationRecord? {
        try database.row(sql: "SELECT * FROM publication WHERE id = ?", [id.uuidString]).map(Self.publication)
    }

    private static func publication(_ row: Row) throws -> PublicationRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let name = row["name"] as String?,
            let size = row["waveSize"] as Int?, let interval = row["waveInterval"] as Int?,
            let createdAt = row.time("createdAt")
        else { throw DamagedRow(table: "publication") }
        var waves = NotifyWaves()
        (waves.size, waves.interval) = (size, interval)
        (waves.maximumBandwidth, waves.maximumDownloads) = (row["maximumBandwidth"], row["maximumDownloads"])
        var publication = PublicationRecord(
            id: id,
            app: app,
            name: name,
            account: row["account"],
            waves: waves,
            createdAt: createdAt
        )
        let subscriptions = (row["subscriptionProducts"] as String? ?? "").split(separator: "\n").map(String.init)
        publication.subscriptionProducts = Set(subscriptions)
        return publication
    }
}

extension PublicationRecord {
    /// The stored form of the subscriptions, one a line; `nil` for none.
    fileprivate var storedSubscriptions: String? {
        self.subscriptionProducts.isEmpty ? nil : self.subscriptionProducts.sorted().joined(separator: "\n")
    }
}
