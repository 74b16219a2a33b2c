package import Foundation
package import ProviderModel
import PushSupport
package import PushTypes

extension SQLStore {
    package func addIssue(_ issue: IssueRecord) async throws -> IssueChangeResult {
        try await self.database.write { database in
            let rows = PublishingRows(database: database)
            guard try PublicationRecord.find(issue.publication, in: database)?.app == issue.app else { return .missing }
            guard try rows.issue(app: issue.app, productID: issue.productID) == nil else { return .productIDTaken }
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
            return try rows.issue(issue.id).map { .done($0) } ?? .missing
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
        let values: SQLArguments = [publication.uuidString, state?.rawValue, after.day, after.position, limit]
        return try await self.database.lookup { database in
            try database.rows(sql: sql, values).compactMap { try $0.readable(PublishingRows(database: database).issue) }
        }
    }

    package func issue(_ id: UUID) async throws -> IssueRecord? {
        try await self.database.lookup { try PublishingRows(database: $0).issue(id) }
    }

    package func issue(app: Int64, productID: String) async throws -> IssueRecord? {
        try await self.database.lookup { try PublishingRows(database: $0).issue(app: app, productID: productID) }
    }

    package func issues(app: Int64, productIDs: Set<String>) async throws -> [IssueRecord] {
        try await self.database.lookup { database in
            let rows = PublishingRows(database: database)
            return try productIDs.sorted().compactMap { try rows.issue(app: app, productID: $0) }
        }
    }

    package func changeIssue(_ id: UUID, _ changes: IssueChanges, now: Timestamp) async throws -> IssueChangeResult {
        try await self.database.write { database in
            let rows = PublishingRows(database: database)
            guard let issue = try rows.issue(id) else { return .missing }
            func update(_ values: ColumnValues) throws { try database.update("issue", values, id: id.uuidString) }
            if let productID = changes.productID, productID != issue.productID {
                guard issue.publishedAt == nil else { return .wasPublished }
                guard try rows.issue(app: issue.app, productID: productID) == nil else { return .productIDTaken }
                try update(["productID": productID])
            }
            if changes.state == .withdrawn, issue.state == .draft { return .isDraft }
            if let state = changes.state, state != issue.state {
                let publishedAt = state == .published ? now : issue.publishedAt
                try update(["state": state.rawValue, "publishedAt": publishedAt?.milliseconds])
                if state == .withdrawn { try Self.cancelNotification(of: issue, now: now, in: database) }
            }
            if let title = changes.title { try update(["title": title]) }
            if let number = changes.number { try update(["number": number.value]) }
            if let date = changes.date { try update(["date": date.dayNumber]) }
            if let access = changes.access { try update(["access": access.rawValue]) }
            return try rows.result(ofChanging: issue)
        }
    }

    package func deleteIssue(_ id: UUID, now: Timestamp) async throws -> IssueDeletionResult {
        try await self.database.write { database in
            let rows = PublishingRows(database: database)
            guard let issue = try rows.issue(id) else { return .missing }
            guard issue.state != .published else { return .isPublished }
            try database.run(sql: "DELETE FROM rendition WHERE issue = ?", [id.uuidString])
            try database.run(sql: "DELETE FROM issue WHERE id = ?", [id.uuidString])
            let files = issue.renditions.map(\.file.hash) + [issue.cover?.hash].compactMap(\.self)
            try rows.noteUse(of: files, app: issue.app, now: now)
            return .deleted
        }
    }

    package func setRendition(
        _ size: ScreenSize,
        of id: UUID,
        to file: ContentHash?,
        now: Timestamp
    ) async throws -> IssueChangeResult {
        try await self.database.write { database in
            let rows = PublishingRows(database: database)
            guard let issue = try rows.issue(id) else { return .missing }
            let old = issue.renditions.first { $0.screenSize == size }
            if let file {
                guard try rows.file(file, app: issue.app) != nil else { return .noFile }
                guard old != nil || issue.renditions.count < IssueRecord.maximumRenditions else { return .tooMany }
                let key: ColumnValues = ["issue": id.uuidString, "longer": size.longer, "shorter": size.shorter]
                try database.replace(in: "rendition", key: key, ["app": issue.app, "hash": file.sqlValue])
            } else {
                let sql = "DELETE FROM rendition WHERE issue = ? AND longer = ? AND shorter = ?"
                try database.run(sql: sql, [id.uuidString, size.longer, size.shorter])
            }
            try rows.noteUse(of: [file, old?.file.hash].compactMap(\.self), app: issue.app, now: now)
            return try rows.result(ofChanging: issue)
        }
    }

    package func setCover(of id: UUID, to cover: CoverFile?, now: Timestamp) async throws -> IssueChangeResult {
        try await self.database.write { database in
            let rows = PublishingRows(database: database)
            guard let issue = try rows.issue(id) else { return .missing }
            if let cover {
                guard try rows.file(cover.hash, app: issue.app) != nil else { return .noFile }
                let sql = "UPDATE file SET contentType = ? WHERE hash = ? AND app = ?"
                try database.run(sql: sql, [cover.contentType, cover.hash.sqlValue, issue.app])
            }
            try database.update("issue", ["cover": cover?.hash.sqlValue], id: id.uuidString)
            let files = [cover?.hash, issue.cover?.hash].compactMap(\.self)
            try rows.noteUse(of: files, app: issue.app, now: now)
            return try rows.result(ofChanging: issue)
        }
    }

    private static func cancelNotification(of issue: IssueRecord, now: Timestamp, in database: any SQLConnection) throws
    {
        guard let id = issue.notification,
            let number = try database.integer(sql: "SELECT number FROM notification WHERE id = ?", [id.uuidString])
        else { return }
        try NotificationRow.cancel(number, now: now, in: database)
    }
}

extension PublishingRows {
    /// Returns the result of changing an issue. A visible change advances the catalogue's version.
    fileprivate func result(ofChanging issue: IssueRecord) throws -> IssueChangeResult {
        guard let changed = try self.issue(issue.id) else { return .missing }
        if issue.inCatalogue != changed.inCatalogue { try self.catalogueChanged(app: issue.app) }
        return .done(changed)
    }
}

extension IssueRecord {
    /// The parts of the issue that the catalogue shows, or `nil` if the catalogue does not show the issue.
    fileprivate var inCatalogue: IssueRecord? {
        guard self.state == .published else { return nil }
        var issue = self
        issue.notification = nil
        return issue
    }
}

extension IssueCursor {
    /// The cursor at the beginning of the catalogue, before the newest issue.
    static let beforeAll = IssueCursor(day: .max, position: .max)
    static let afterAll = IssueCursor(day: .min, position: .min)
}
