import MartletKit
package import PushSupport

/// The library of a reader, as a text table and as JSON.
package struct LibraryListing: Sendable {
    private static let heading = ["", "No.", "Title", "Date", "State", "Size", "Entitled by"]
    /// The mark for an issue that was downloaded and not opened yet.
    package static let mark = "●"

    private let issues: [LibraryIssue]

    package init(_ state: ReaderState) { self.issues = state.library }

    package var lines: [String] {
        guard !self.issues.isEmpty else { return ["(no issues)"] }
        let rows = [Self.heading] + self.issues.map(Self.row)
        let widths = Self.heading.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func row(_ issue: LibraryIssue) -> [String] {
        [
            issue.isMarked ? Self.mark : "", issue.issue.number ?? "", String(issue.issue.title.prefix(60)),
            issue.issue.date, Self.state(issue), Self.size(issue).map(ByteText.of) ?? "", issue.entitledBy ?? "",
        ]
    }

    private static func state(_ issue: LibraryIssue) -> String {
        switch issue.status {
        case .listed: return issue.isWithdrawn ? "withdrawn" : "in the catalogue"
        case .downloading:
            guard let size = issue.file?.size, size > 0 else { return "downloading" }
            return "downloading \(min(100, issue.received * 100 / size)) %"
        case .downloaded: return issue.isWithdrawn ? "here, withdrawn" : "here"
        case .failed: return "failed"
        }
    }

    /// Returns the size of the issue's file in bytes or, before a download is granted, of its largest rendition (a
    /// version of the file for one screen size). Returns `nil` if the issue has none.
    private static func size(_ issue: LibraryIssue) -> Int64? {
        issue.file?.size ?? issue.issue.renditions.map(\.size).max()
    }

    package var json: PushSupport.JSONValue {
        let issues = self.issues.map { issue in
            PushSupport.JSONValue.members([
                "productId": issue.product.json, "number": issue.issue.number?.json, "title": issue.issue.title.json,
                "date": issue.issue.date.json, "state": issue.status.rawValue.json, "isMarked": .bool(issue.isMarked),
                "isWithdrawn": .bool(issue.isWithdrawn), "received": .integer(issue.received),
                "size": Self.size(issue).map { .integer($0) }, "entitledBy": issue.entitledBy?.json,
                "hasCover": .bool(issue.issue.cover != nil && issue.missingCover == nil),
            ])
        }
        return .object(["issues": .array(issues)])
    }
}
