/// How a file holds devices.
package enum TransferFormat: String, Hashable, Sendable, CaseIterable {
    /// One JSON object per line, as it is registered.
    case ndjson
    /// RFC 4180, with the names of the columns in the first line.
    case csv

    package var contentType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv"
        }
    }

    /// By the value of a `content-type`, whatever its parameters.
    package init?(contentType: String) {
        let name = contentType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        switch name {
        case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines":
            self = .ndjson
        case "text/csv": self = .csv
        default: return nil
        }
    }
}

/// The columns of a CSV file, in the order of an export; an import takes them in any order, and those it needs.
enum TransferColumn {
    static let all = [
        "token", "environment", "user", "locale", "timeZone", "appVersion", "installation", "capabilities", "tags",
        "attributes",
    ]
    /// Comes before the name of an attribute that has a column of its own.
    static let attributePrefix = "attributes."
    /// Between the entries of a list.
    static let separator: Character = ";"
    /// The columns that are lists.
    static let lists: Set<String> = ["capabilities", "tags"]
}
