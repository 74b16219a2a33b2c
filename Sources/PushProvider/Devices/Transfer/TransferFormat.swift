package import PushTypes

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

/// The limits on a file of devices.
package enum TransferLimits {
    /// The maximum length of a record, in bytes, including its line end. A longer record is skipped and reported.
    package static let maximumRecord = 64 * 1024
    /// The maximum number of columns of a CSV file: those of the members, and 100 attributes. A row with more is an
    /// error.
    package static let maximumColumns = 128
    /// The maximum number of registrations in one transaction, and of devices in one page of an export.
    package static let batch = 1000
    /// The maximum number of errors in a report; further errors are only counted.
    package static let maximumRefusals = 1000
}

/// The syntax of a file of devices, and the server from which it comes.
package struct ImportSource: Hashable, Sendable {
    /// The syntax that separates the records of a file.
    package enum Container: Hashable, Sendable {
        /// A JSON object on each line.
        case lines
        /// Rows of CSV (RFC 4180) after a header row.
        case rows
        /// A JSON array of objects, or an object whose member `results` is such an array.
        case elements
    }

    package var container: Container
    /// The server from which the list comes; `nil` for records in Martlet's own form.
    package var list: ForeignDeviceList?

    package init(_ container: Container, list: ForeignDeviceList? = nil) {
        (self.container, self.list) = (container, list)
    }

    /// Creates the source for records in Martlet's own form.
    package init(_ format: TransferFormat) {
        switch format {
        case .ndjson: self.init(.lines)
        case .csv: self.init(.rows)
        }
    }

    /// Creates the source from a request's `content-type`; `nil` for an unsupported type. JSON needs a `list`.
    package init?(contentType: String, list: ForeignDeviceList?) {
        if let format = TransferFormat(contentType: contentType) {
            self.init(format)
        } else if list != nil, Self.isJSON(contentType) {
            self.init(.elements)
        } else {
            return nil
        }
        self.list = list
    }

    private static func isJSON(_ contentType: String) -> Bool {
        contentType.prefix { $0 != ";" }.filter { $0 != " " }.lowercased() == "application/json"
    }
}

/// The values that are used for devices of another server's list, which does not contain them.
package struct ImportDefaults: Hashable, Sendable {
    /// The app into which the list is imported. Records of another app are rejected; `nil` accepts all.
    package var bundleID: Topic?
    /// The environment of records that do not name one. Default production.
    package var environment: PushEnvironment

    package init(bundleID: Topic? = nil, environment: PushEnvironment = .production) {
        (self.bundleID, self.environment) = (bundleID, environment)
    }
}
