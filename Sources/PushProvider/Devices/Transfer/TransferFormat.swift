import Foundation

/// The format of a file of devices.
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

    /// The format of a `content-type`, whose parameters are ignored; `nil` for any other type.
    package init?(contentType: String) {
        let type = contentType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        switch type {
        case "application/x-ndjson", "application/ndjson", "application/jsonl": self = .ndjson
        case "text/csv": self = .csv
        default: return nil
        }
    }
}

/// The bounds of a file of devices.
package enum TransferLimits {
    /// The maximum length of a record, in bytes with its line end.
    package static let maximumRecord = 64 * 1024
    /// The maximum number of columns of a CSV file: those with names of their own and 100 attributes.
    package static let maximumColumns = 128
    /// The number of registrations in one transaction, and of devices in one page of an export.
    package static let batch = 1000
    /// The maximum number of errors in a report; further errors are only counted.
    package static let maximumRefusals = 1000
}
