import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// Reads and writes publications, issues and files, within a transaction.
struct PublishingRows {
    let database: any SQLConnection

    func issue(_ id: UUID) throws -> IssueRecord? {
        try self.database.row(sql: "SELECT * FROM issue WHERE id = ?", [id.uuidString]).map(self.issue)
    }

    func issue(app: Int64, productID: String) throws -> IssueRecord? {
        try self.database.row(sql: "SELECT * FROM issue WHERE app = ? AND productID = ?", [app, productID])
            .map(self.issue)
    }

    /// Decodes an issue, and reads the rows of its files.
    /// - Throws: ``DamagedRow`` if a row cannot be decoded.
    func issue(_ row: SQLRow) throws -> IssueRecord {
        var issue = try IssueRecord(row: row)
        if let cover = row.hash("cover") { issue.cover = try self.file(cover, app: issue.app) }
        let renditions = "SELECT * FROM rendition WHERE issue = ? ORDER BY longer * shorter, longer"
        for row in try self.database.rows(sql: renditions, [issue.id.uuidString]) {
            guard let longer = row["longer"] as Int?, let shorter = row["shorter"] as Int?,
                let size = ScreenSize(longer, shorter), let hash = row.hash("hash"),
                let file = try self.file(hash, app: issue.app)
            else { throw DamagedRow(table: "rendition") }
            issue.renditions.append(RenditionRecord(screenSize: size, file: file))
        }
        return issue
    }

    func file(_ hash: ContentHash, app: Int64) throws -> FileRecord? {
        try self.database.record(sql: "SELECT * FROM file WHERE hash = ? AND app = ?", [hash.sqlValue, app])
    }

    /// Records whether files are in use. For files that have become unused, it records the time.
    func noteUse(of hashes: [ContentHash], app: Int64, now: Timestamp) throws {
        let sql = """
            UPDATE file SET unusedSince = CASE
                WHEN EXISTS (SELECT 1 FROM rendition WHERE app = ?2 AND hash = ?1)
                    OR EXISTS (SELECT 1 FROM issue WHERE app = ?2 AND cover = ?1) THEN NULL
                ELSE coalesce(unusedSince, ?3) END
            WHERE hash = ?1 AND app = ?2
            """
        for hash in hashes { try self.database.run(sql: sql, [hash.sqlValue, app, now.milliseconds]) }
    }

    /// Advances the version of an app's catalogue, because the catalogue may have changed.
    func catalogueChanged(app: Int64) throws {
        // The version is at least the time in milliseconds, so that a database restored from a backup does not reuse
        // versions.
        let sql = """
            INSERT INTO catalogue (app, version) VALUES (?, ?)
            ON CONFLICT (app) DO UPDATE SET version = max(catalogue.version + 1, excluded.version)
            """
        try self.database.run(sql: sql, app, SystemTime().now.milliseconds)
    }
}

extension SQLRow {
    func hash(_ column: String) -> ContentHash? { (self[column] as Data?).flatMap { ContentHash(bytes: Array($0)) } }
}

extension PublicationRecord: StoredRecord {
    static let table = "publication"

    init(_ row: StoredRow) throws {
        var waves = NotifyWaves()
        (waves.size, waves.interval) = (try row.get("waveSize"), try row.get("waveInterval"))
        (waves.maximumBandwidth, waves.maximumDownloads) = (row["maximumBandwidth"], row["maximumDownloads"])
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            name: try row.get("name"),
            account: row["account"],
            waves: waves,
            createdAt: try row.get("createdAt")
        )
        let subscriptions = (row["subscriptionProducts"] as String? ?? "").split(separator: "\n").map(String.init)
        self.subscriptionProducts = Set(subscriptions)
    }
}

extension IssueRecord: StoredRecord {
    static let table = "issue"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            publication: try row.get("publication"),
            productID: try row.get("productID"),
            title: try row.get("title"),
            date: CivilDate(dayNumber: try row.get("date")),
            access: try row.get(raw: "access"),
            createdAt: try row.get("createdAt")
        )
        (self.number, self.state, self.publishedAt) = (row["number"], try row.get(raw: "state"), row["publishedAt"])
        (self.notification, self.position) = (row["notification"], try row.get("position"))
    }
}

extension FileRecord: StoredRecord {
    static let table = "file"

    init(_ row: StoredRow) throws {
        self.init(
            hash: try row.get("hash"),
            size: try row.get("size"),
            contentType: try row.get("contentType"),
            name: try row.get("name"),
            createdAt: try row.get("createdAt")
        )
        self.unusedSince = row["unusedSince"]
    }
}

extension UsedFile: StoredRecord {
    static let table = "file"

    init(_ row: StoredRow) throws { self.init(app: try row.get("app"), file: try FileRecord(row)) }
}

extension UploadRecord: StoredRecord {
    static let table = "upload"

    init(_ row: StoredRow) throws {
        self.init(
            id: try row.get("id"),
            app: try row.get("app"),
            size: try row.get("size"),
            hash: try row.get("hash"),
            contentType: try row.get("contentType"),
            name: try row.get("name"),
            createdAt: try row.get("createdAt")
        )
        (self.received, self.changedAt) = (try row.get("received"), try row.get("changedAt"))
        self.completedAt = row["completedAt"]
    }
}
