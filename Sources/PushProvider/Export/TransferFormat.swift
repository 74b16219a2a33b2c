/// The format of a file of devices.
package enum TransferFormat: String, CaseIterable, Hashable, Sendable {
    /// A JSON object on each line, with the members of a registration.
    case ndjson
    /// CSV (RFC 4180) with a header row, see ``CSVColumns``.
    case csv

    package var contentType: String {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .csv: "text/csv; charset=utf-8"
        }
    }

    /// Creates the format that a `content-type` names, whatever its parameters. The result is `nil` for any other type.
    package init?(contentType: String) {
        let type = contentType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased()
        switch type {
        case "application/x-ndjson", "application/ndjson", "application/jsonl": self = .ndjson
        case "text/csv": self = .csv
        default: return nil
        }
    }
}
