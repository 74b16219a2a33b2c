import Foundation

/// How devices are written in a file.
package enum TransferFormat: String, CaseIterable, Hashable, Sendable {
    /// A JSON object on each line, with the members of a registration.
    case ndjson
    /// RFC 4180 with a header row, see ``CSVColumns``.
    case csv

    package var contentType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv; charset=utf-8"
        }
    }

    /// By a `content-type`, whatever its parameters are.
    package init?(contentType: String) {
        let type = contentType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        switch type {
        case "application/x-ndjson", "application/ndjson", "application/jsonl": self = .ndjson
        case "text/csv": self = .csv
        default: return nil
        }
    }
}

/// Sizes that a file of devices must keep to.
package enum TransferLimits {
    /// Longest record, in bytes with its line end.
    package static let maximumRecord = 64 * 1024
    /// Columns of a CSV file: those with names of their own and 100 attributes.
    package static let maximumColumns = 128
    /// Registrations in one transaction, and devices in one page of an export.
    package static let batch = 1000
    /// Refusals that a report shows; the others are counted only.
    package static let maximumRefusals = 1000
}
