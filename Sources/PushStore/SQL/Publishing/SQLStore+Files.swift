package import Foundation
package import ProviderModel
package import PushTypes

extension SQLStore {
    package func addUpload(_ upload: UploadRecord, quota: Int?, files: Int) async throws -> UploadAdditionResult {
        try await self.database.write { database in
            guard try AppRows(database: database).has(upload.app) else { return .noApp }
            let sql = "SELECT count(*) FROM upload WHERE app = ? AND completedAt IS NULL"
            let open = try database.count(sql: sql, [upload.app])
            guard open < UploadRecord.maximumOfApp else { return .tooMany }
            let known = try PublishingRows(database: database).file(upload.hash, app: upload.app)
            // A file that the app already has takes no additional space.
            if known?.size != upload.size {
                let stored = try Self.stored(app: upload.app, in: database)
                // Each incomplete upload may become an additional file.
                guard known != nil || stored.files + open < files else { return .tooManyFiles }
                if let quota, upload.size > quota - stored.bytes { return .overQuota(used: stored.bytes) }
            }
            try database.insert(
                into: "upload",
                [
                    "id": upload.id.uuidString, "app": upload.app, "hash": upload.hash.sqlValue,
                    "size": upload.size, "contentType": upload.contentType, "name": upload.name,
                    "received": upload.received, "createdAt": upload.createdAt.milliseconds,
                    "changedAt": upload.changedAt.milliseconds,
                ]
            )
            return .added
        }
    }

    package func upload(_ id: UUID) async throws -> UploadRecord? {
        try await self.database.lookup { try UploadRecord.find(id, in: $0) }
    }

    package func noteUpload(_ id: UUID, received: Int, now: Timestamp) async throws -> Bool {
        let sql = "UPDATE upload SET received = ?, changedAt = ? WHERE id = ?"
        return try await self.database.run(sql: sql, [received, now.milliseconds, id.uuidString]) > 0
    }

    package func completeUpload(_ id: UUID, now: Timestamp) async throws -> FileRecord? {
        try await self.database.write { database in
            guard let upload = try UploadRecord.find(id, in: database) else { return nil }
            try database.update(
                "upload",
                ["received": upload.size, "changedAt": now.milliseconds, "completedAt": now.milliseconds],
                id: id.uuidString
            )
            // The type and the name of a file in use do not change, because its entity tag stays the same.
            try database.insert(
                into: "file",
                [
                    "hash": upload.hash.sqlValue, "app": upload.app, "size": upload.size,
                    "contentType": upload.contentType, "name": upload.name, "createdAt": now.milliseconds,
                    "unusedSince": now.milliseconds,
                ],
                """
                ON CONFLICT (hash, app) DO UPDATE
                SET contentType = excluded.contentType, name = excluded.name, unusedSince = excluded.unusedSince
                WHERE file.unusedSince IS NOT NULL
                """
            )
            return try PublishingRows(database: database).file(upload.hash, app: upload.app)
        }
    }

    package func deleteUpload(_ id: UUID) async throws -> Bool {
        try await self.database.run(sql: "DELETE FROM upload WHERE id = ?", [id.uuidString]) > 0
    }

    package func openUploads(app: Int64) async throws -> [UploadRecord] {
        let sql = """
            SELECT * FROM upload INDEXED BY uploadByApp WHERE app = ? AND completedAt IS NULL
            ORDER BY changedAt DESC, id LIMIT \(UploadRecord.maximumOfApp)
            """
        return try await self.database.lookup { try $0.records(sql: sql, [app]) }
    }

    package func uploads() async throws -> Set<UUID> {
        try await self.database.read { database in
            Set(try database.rows(sql: "SELECT id FROM upload").compactMap { $0.uuid("id") })
        }
    }

    package func storedBytes(app: Int64) async throws -> Int {
        try await self.database.read { try Self.stored(app: app, in: $0).bytes }
    }

    package func forgetUploads(before: Timestamp, limit: Int) async throws -> Int {
        let sql =
            "DELETE FROM upload WHERE id IN (SELECT id FROM upload WHERE changedAt < ? ORDER BY changedAt LIMIT ?)"
        return try await self.database.run(sql: sql, [before.milliseconds, limit])
    }

    package func file(_ hash: ContentHash, app: Int64) async throws -> FileRecord? {
        try await self.database.lookup { try PublishingRows(database: $0).file(hash, app: app) }
    }

    package func files(app: Int64, after: ContentHash?, limit: Int) async throws -> [FileRecord] {
        let sql = "SELECT * FROM file INDEXED BY fileByApp WHERE app = ? AND hash > ? ORDER BY hash LIMIT ?"
        let after = after.map { Data($0.bytes) } ?? Data()
        return try await self.database.lookup { try $0.records(sql: sql, [app, after, limit]) }
    }

    package func hasFile(_ hash: ContentHash) async throws -> Bool {
        try await self.database.read { database in
            try database.hasRow(sql: "SELECT 1 FROM file WHERE hash = ? LIMIT 1", [hash.sqlValue])
        }
    }

    package func usedFiles(beginning byte: UInt8) async throws -> [UsedFile] {
        // The end of the range is exclusive, because a blob is greater than any of its proper prefixes.
        let end = byte == .max ? Data(repeating: .max, count: 33) : Data([byte + 1])
        let sql = "SELECT * FROM file WHERE hash >= ? AND hash < ? AND unusedSince IS NULL ORDER BY hash"
        return try await self.database.read { try $0.records(sql: sql, [Data([byte]), end]) }
    }

    package func fileHashes(beginning byte: UInt8) async throws -> Set<ContentHash> {
        // The end of the range is exclusive, because a blob is greater than any of its proper prefixes.
        let end = byte == .max ? Data(repeating: .max, count: 33) : Data([byte + 1])
        return try await self.database.read { database in
            let sql = "SELECT hash FROM file WHERE hash >= ? AND hash < ?"
            let rows = try database.rows(sql: sql, [Data([byte]), end])
            return Set(rows.compactMap { $0.hash("hash") })
        }
    }

    package func forgetFiles(unusedSince: Timestamp, limit: Int) async throws -> Int {
        let sql = """
            DELETE FROM file WHERE (hash, app) IN (
                SELECT hash, app FROM file WHERE unusedSince < ? ORDER BY unusedSince LIMIT ?)
            """
        return try await self.database.run(sql: sql, [unusedSince.milliseconds, limit])
    }

    /// The SQL for the number of an app's files, and the size of its files and uploads. Its cost is bounded, because
    /// the only writer waits for it: the totals of files are stored, and an app has at most
    /// ``UploadRecord/maximumOfApp`` incomplete uploads.
    static let storedOfApp = """
        SELECT coalesce((SELECT files FROM fileUsage WHERE app = ?1), 0) AS files,
            coalesce((SELECT bytes FROM fileUsage WHERE app = ?1), 0)
            + (SELECT coalesce(sum(CAST(size AS DOUBLE PRECISION)), 0)
                FROM upload INDEXED BY uploadByApp WHERE app = ?1 AND completedAt IS NULL) AS bytes
        """

    private static func stored(app: Int64, in database: any SQLConnection) throws -> (files: Int, bytes: Int) {
        let row = try database.row(sql: Self.storedOfApp, [app])
        let bytes = row?["bytes"] as Double? ?? 0
        return (row?["files"] as Int? ?? 0, Int(exactly: bytes.rounded()) ?? .max / 2)
    }
}
