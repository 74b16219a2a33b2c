package import Foundation
import GRDB
import PushSupport
package import PushTypes

extension SQLiteStore {
    package func addIssue(_ issue: IssueRecord) async throws -> IssueResult {
        try await self.database.write { database in
            guard try Self.publication(issue.publication, in: database)?.app == issue.app else { return .missing }
            guard try Self.issue(app: issue.app, productID: issue.productID, in: database) == nil else {
                return .productIDTaken
            }
            let others = try database.count(sql: "SELECT count(*) FROM issue WHERE app = ?", [issue.app])
            guard others < IssueRecord.maximumOfApp else { return .tooMany }
            try database.insert(
                into: "issue",
                [
                    "id": issue.id.uuidString, "app": issue.app, "publication": issue.publication.uuidString,
                    "productID": issue.productID, "title": issue.title, "number": issue.number,
                    "date": issue.date.dayNumber, "state": IssueState.draft.rawValue, "access": issue.access.rawValue,
                    "createdAt": issue.createdAt.milliseconds,
                ]
            )
            return try Self.issue(issue.id, in: database).map { .done($0) } ?? .missing
        }
    }

    package func issues(
        publication: UUID,
        state: IssueState?,
        order: IssueOrder,
        after: IssueCursor?,
        limit: Int
    ) async throws -> [IssueRecord] {
        let (beyond, direction) = order == .newest ? ("<", "DESC") : (">", "ASC")
        let sql = """
            SELECT * FROM issue
            WHERE publication = ? AND state = coalesce(?, state) AND (date, position) \(beyond) (?, ?)
            ORDER BY date \(direction), position \(direction) LIMIT ?
            """
        let after = after ?? (order == .newest ? .beforeAll : .afterAll)
        let values: StatementArguments = [publication.uuidString, state?.rawValue, after.day, after.position, limit]
        return try await self.database.lookup { database in
            try database.rows(sql: sql, values).compactMap { try $0.readable { try Self.issue($0, in: database) } }
        }
    }

    package func issue(_ id: UUID) async throws -> IssueRecord? {
        try await self.database.lookup { try Self.issue(id, in: $0) }
    }

    package func issue(app: Int64, productID: String) async throws -> IssueRecord? {
        try await self.database.lookup { try Self.issue(app: app, productID: productID, in: $0) }
    }

    package func issues(app: Int64, productIDs: Set<String>) async throws -> [IssueRecord] {
        try await self.database.lookup { database in
            try productIDs.sorted().compactMap { try Self.issue(app: app, productID: $0, in: database) }
        }
    }

    package func changeIssue(_ id: UUID, _ changes: IssueChanges, now: Timestamp) async throws -> IssueResult {
        try await self.database.write { database in
            guard let issue = try Self.issue(id, in: database) else { return .missing }
            if let productID = changes.productID, productID != issue.productID {
                guard issue.publishedAt == nil else { return .wasPublished }
                guard try Self.issue(app: issue.app, productID: productID, in: database) == nil else {
                    return .productIDTaken
                }
                try database.update("issue", ["productID": productID], id: id.uuidString)
            }
            if changes.state == .withdrawn, issue.state == .draft { return .isDraft }
            if let state = changes.state, state != issue.state {
                let publishedAt = state == .published ? now : issue.publishedAt
                let values: Columns = ["state": state.rawValue, "publishedAt": publishedAt?.milliseconds]
                try database.update("issue", values, id: id.uuidString)
                if state == .withdrawn { try Self.cancelNotification(of: issue, now: now, in: database) }
            }
            if let title = changes.title { try database.update("issue", ["title": title], id: id.uuidString) }
            if let number = changes.number { try database.update("issue", ["number": number.value], id: id.uuidString) }
            if let date = changes.date { try database.update("issue", ["date": date.dayNumber], id: id.uuidString) }
            if let access = changes.access {
                try database.update("issue", ["access": access.rawValue], id: id.uuidString)
            }
            return try Self.result(ofChanging: issue, in: database)
        }
    }

    package func deleteIssue(_ id: UUID, now: Timestamp) async throws -> IssueDeletion {
        try await self.database.write { database in
            guard let issue = try Self.issue(id, in: database) else { return .missing }
            guard issue.state != .published else { return .isPublished }
            try database.run(sql: "DELETE FROM rendition WHERE issue = ?", [id.uuidString])
            try database.run(sql: "DELETE FROM issue WHERE id = ?", [id.uuidString])
            let files = issue.renditions.map(\.file.hash) + [issue.cover?.hash].compactMap(\.self)
            for file in files { try Self.noteUse(of: file, app: issue.app, now: now, in: database) }
            return .deleted
        }
    }

    package func setRendition(
        _ size: ScreenSize,
        of id: UUID,
        to file: ContentHash?,
        now: Timestamp
    ) async throws -> IssueResult {
        try await self.database.write { database in
            guard let issue = try Self.issue(id, in: database) else { return .missing }
            let old = issue.renditions.first { $0.screenSize == size }
            if let file {
                guard try Self.file(file, app: issue.app, in: database) != nil else { return .noFile }
                guard old != nil || issue.renditions.count < IssueRecord.maximumRenditions else { return .tooMany }
                let sql = "INSERT OR REPLACE INTO rendition (issue, longer, shorter, app, hash) VALUES (?, ?, ?, ?, ?)"
                let values: StatementArguments = [
                    id.uuidString, size.longer, size.shorter, issue.app, file.databaseValue,
                ]
                try database.run(sql: sql, values)
                try Self.noteUse(of: file, app: issue.app, now: now, in: database)
            } else {
                let sql = "DELETE FROM rendition WHERE issue = ? AND longer = ? AND shorter = ?"
                try database.run(sql: sql, [id.uuidString, size.longer, size.shorter])
            }
            if let old { try Self.noteUse(of: old.file.hash, app: issue.app, now: now, in: database) }
            return try Self.result(ofChanging: issue, in: database)
        }
    }

    package func setCover(of id: UUID, to cover: CoverFile?, now: Timestamp) async throws -> IssueResult {
        try await self.database.write { database in
            guard let issue = try Self.issue(id, in: database) else { return .missing }
            if let cover {
                guard try Self.file(cover.hash, app: issue.app, in: database) != nil else { return .noFile }
                let sql = "UPDATE file SET contentType = ? WHERE hash = ? AND app = ?"
                try database.run(sql: sql, [cover.contentType, cover.hash.databaseValue, issue.app])
            }
            try database.update("issue", ["cover": cover?.hash.databaseValue], id: id.uuidString)
            let files = [cover?.hash, issue.cover?.hash].compactMap(\.self)
            for file in files { try Self.noteUse(of: file, app: issue.app, now: now, in: database) }
            return try Self.result(ofChanging: issue, in: database)
        }
    }

    /// Ends the notification of an issue that no device can have any more.
    private static func cancelNotification(of issue: IssueRecord, now: Timestamp, in database: Database) throws {
        guard let id = issue.notification,
            let row = try database.row(sql: "SELECT number FROM notification WHERE id = ?", [id.uuidString]),
            let number = row["number"] as Int64?
        else { return }
        try Self.cancel(number, now: now, in: database)
    }

    /// Returns an issue as it is after a change, and notes if the catalogue shows something else now.
    private static func result(ofChanging issue: IssueRecord, in database: Database) throws -> IssueResult {
        guard let changed = try Self.issue(issue.id, in: database) else { return .missing }
        if issue.inCatalogue != changed.inCatalogue { try Self.catalogueChanged(app: issue.app, in: database) }
        return .done(changed)
    }
}

extension IssueRecord {
    /// The parts that the catalogue shows; `nil` if it does not show the issue.
    fileprivate var inCatalogue: IssueRecord? {
        guard self.state == .published else { return nil }
        var issue = self
        issue.notification = nil
        return issue
    }
}

// MARK: Rows

extension SQLiteStore {
    static func issue(_ id: UUID, in database: Database) throws -> IssueRecord? {
        try database.row(sql: "SELECT * FROM issue WHERE id = ?", [id.uuidString])
            .map { try Self.issue($0, in: database) }
    }

    private static func issue(app: Int64, productID: String, in database: Database) throws -> IssueRecord? {
        try database.row(sql: "SELECT * FROM issue WHERE app = ? AND productID = ?", [app, productID])
            .map { try Self.issue($0, in: database) }
    }

    /// Reads the row of an issue, and those of its files.
    static func issue(_ row: Row, in database: Database) throws -> IssueRecord {
        guard let id = row.uuid("id"), let app = row["app"] as Int64?, let publication = row.uuid("publication"),
            let productID = row["productID"] as String?, let title = row["title"] as String?,
            let date = row["date"] as Int64?, let state = row.value("state") as IssueState?,
            let access = row.value("access") as IssueAccess?, let createdAt = row.time("createdAt"),
            let position = row["position"] as Int64?
        else { throw DamagedRow(table: "issue") }
        var issue = IssueRecord(
            id: id,
            app: app,
            publication: publication,
            productID: productID,
            title: title,
            date: CivilDate(dayNumber: date),
            access: access,
            createdAt: createdAt
        )
        (issue.number, issue.state, issue.publishedAt) = (row["number"], state, row.time("publishedAt"))
        (issue.notification, issue.position) = (row.uuid("notification"), position)
        if let cover = row.hash("cover") { issue.cover = try Self.file(cover, app: app, in: database) }
        let renditions = "SELECT * FROM rendition WHERE issue = ? ORDER BY longer * shorter, longer"
        for row in try database.rows(sql: renditions, [id.uuidString]) {
            guard let longer = row["longer"] as Int?, let shorter = row["shorter"] as Int?,
                let size = ScreenSize(longer, shorter), let hash = row.hash("hash"),
                let file = try Self.file(hash, app: app, in: database)
            else { throw DamagedRow(table: "rendition") }
            issue.renditions.append(RenditionRecord(screenSize: size, file: file))
        }
        return issue
    }
}

extension IssueCursor {
    /// The position before the newest issue.
    static let beforeAll = IssueCursor(day: .max, position: .max)
    static let afterAll = IssueCursor(day: .min, position: .min)
}
