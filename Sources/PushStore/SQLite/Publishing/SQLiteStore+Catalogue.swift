package import Foundation
import GRDB

extension SQLiteStore {
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
                .compactMap { try $0.readable { try Self.issue($0, in: database) } }
        }
    }

    package func downloadable(_ hash: ContentHash, issue: UUID) async throws -> UsedFile? {
        let sql = """
            SELECT file.* FROM issue JOIN file ON file.hash = ?1 AND file.app = issue.app
            WHERE issue.id = ?2 AND state = 'published' AND (
                cover = ?1 OR EXISTS (SELECT 1 FROM rendition WHERE rendition.issue = ?2 AND rendition.hash = ?1))
            """
        return try await self.database.lookup { database in
            guard let row = try database.row(sql: sql, [hash.databaseValue, issue.uuidString]),
                let app = row["app"] as Int64?
            else { return nil }
            return UsedFile(app: app, file: try Self.file(row))
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
            try database.run(sql: "INSERT INTO addressKey (id, sealed) VALUES (1, ?)", [sealed])
            return key
        }
    }
}
