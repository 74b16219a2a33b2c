package import PushTypes

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
    /// The server from which the list comes, or `nil` for records in Martlet's own form.
    package var list: ForeignDeviceList?

    package init(_ container: Container, list: ForeignDeviceList? = nil) {
        (self.container, self.list) = (container, list)
    }

    package init(_ format: TransferFormat) {
        switch format {
        case .ndjson: self.init(.lines)
        case .csv: self.init(.rows)
        }
    }

    /// Creates the source from a request's `content-type`, or returns `nil` for an unsupported one. JSON needs a
    /// `list`.
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
    /// The app into which the list is imported. Records of another app are rejected. `nil` accepts all.
    package var bundleID: Topic?
    /// The environment of records that do not name one. Default production.
    package var environment: PushEnvironment

    package init(bundleID: Topic? = nil, environment: PushEnvironment = .production) {
        (self.bundleID, self.environment) = (bundleID, environment)
    }
}
