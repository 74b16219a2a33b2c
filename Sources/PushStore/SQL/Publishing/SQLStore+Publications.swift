package import Foundation
package import ProviderModel
import PushTypes

extension SQLStore {
    package func addPublication(_ publication: PublicationRecord) async throws -> PublicationAdditionResult {
        try await self.database.write { database in
            guard try AppRows(database: database).has(publication.app) else { return .noApp }
            let others = try database.count(sql: "SELECT count(*) FROM publication WHERE app = ?", [publication.app])
            guard others < PublicationRecord.maximumOfApp else { return .tooMany }
            var columns: ColumnValues = [
                "id": publication.id.uuidString, "app": publication.app,
                "createdAt": publication.createdAt.milliseconds,
            ]
            columns += publication.columns
            try database.insert(into: "publication", columns)
            return .added
        }
    }

    package func publications(app: Int64) async throws -> [PublicationRecord] {
        let sql = "SELECT * FROM publication WHERE app = ? ORDER BY name, id"
        return try await self.database.lookup { try $0.records(sql: sql, [app]) }
    }

    package func publication(_ id: UUID) async throws -> PublicationRecord? {
        try await self.database.lookup { try PublicationRecord.find(id, in: $0) }
    }

    package func changePublication(_ id: UUID, _ changes: PublicationChanges) async throws -> PublicationRecord? {
        try await self.database.write { database in
            guard var publication = try PublicationRecord.find(id, in: database) else { return nil }
            let shown = (publication.name, publication.account)
            changes.apply(to: &publication)
            try database.update("publication", publication.columns, id: id.uuidString)
            if shown != (publication.name, publication.account) {
                try PublishingRows(database: database).catalogueChanged(app: publication.app)
            }
            return publication
        }
    }

    package func deletePublication(_ id: UUID) async throws -> PublicationDeletionResult {
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

    // MARK: Catalogue

    package func catalogueVersion(app: Int64) async throws -> Int64 {
        try await self.database.lookup { database in
            try database.integer(sql: "SELECT version FROM catalogue WHERE app = ?", [app]) ?? 0
        }
    }

    package func catalogue(
        app: Int64,
        account: String?,
        after: IssueCursor?,
        limit: Int
    ) async throws -> [IssueRecord] {
        let sql = """
            SELECT issue.* FROM issue INDEXED BY publishedIssue JOIN publication ON publication.id = issue.publication
            WHERE issue.app = ?1 AND state = 'published' AND (date, position) < (?2, ?3)
                AND (account IS NULL OR account = ?4)
            ORDER BY date DESC, position DESC LIMIT ?5
            """
        let after = after ?? .beforeAll
        return try await self.database.lookup { database in
            try database.rows(sql: sql, [app, after.day, after.position, account, limit])
                .compactMap { try $0.readable(PublishingRows(database: database).issue) }
        }
    }

    package func downloadable(_ hash: ContentHash, issue: UUID) async throws -> UsedFile? {
        let sql = """
            SELECT file.* FROM issue JOIN file ON file.hash = ?1 AND file.app = issue.app
            WHERE issue.id = ?2 AND state = 'published' AND (
                cover = ?1 OR EXISTS (SELECT 1 FROM rendition WHERE rendition.issue = ?2 AND rendition.hash = ?1))
            """
        return try await self.database.lookup { database in
            guard let row = try database.row(sql: sql, [hash.sqlValue, issue.uuidString]),
                let app = row["app"] as Int64?
            else { return nil }
            return UsedFile(app: app, file: try FileRecord(row: row))
        }
    }

    package func addressKey() async throws -> String {
        let masterKey = self.masterKey
        return try await self.database.write { database in
            if let row = try database.row(sql: "SELECT sealed FROM addressKey"), let sealed = row["sealed"] as Data? {
                return try masterKey.open(sealed, for: .addressKey)
            }
            let key = MasterKey.randomText()
            let sealed = try masterKey.seal(key, for: .addressKey)
            try database.insert(into: "addressKey", ["id": 1, "sealed": sealed])
            return key
        }
    }
}

extension PublicationRecord {
    /// The changeable columns. Subscription products are stored one per line.
    fileprivate var columns: ColumnValues {
        let subscriptions = self.subscriptionProducts.sorted().joined(separator: "\n")
        return [
            "name": self.name, "account": self.account, "waveSize": self.waves.size,
            "waveInterval": self.waves.interval, "maximumBandwidth": self.waves.maximumBandwidth,
            "maximumDownloads": self.waves.maximumDownloads,
            "subscriptionProducts": subscriptions.isEmpty ? nil : subscriptions,
        ]
    }
}
