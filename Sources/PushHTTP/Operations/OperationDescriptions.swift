package import PushSupport

/// A parameter in the path, the query or the header of a request.
package struct ParameterDescription: Sendable {
    enum Place: String, Sendable {
        case path, query, header
    }

    let name: String
    let place: Place
    let summary: String
    let schema: Schema

    package static func query(_ name: String, _ summary: String, _ schema: Schema = .string()) -> Self {
        Self(name: name, place: .query, summary: summary, schema: schema)
    }

    package static func header(_ name: String, _ summary: String, _ schema: Schema = .string()) -> Self {
        Self(name: name, place: .header, summary: summary, schema: schema)
    }

    /// The query item `limit`, see ``PageSize``.
    package static func limit(default value: Int64 = PageSize.standard) -> ParameterDescription {
        .query("limit", "Entries in the response; default \(value).", .integer(PageSize.range))
    }

    /// The query item `cursor`, see ``Cursor``.
    package static let cursor = ParameterDescription.query(
        "cursor",
        "The member next of the page before.",
        .string(length: 1...Cursor.maximumLength)
    )
}

/// The number of entries in one page of a list, which a request chooses with the query item `limit`.
package enum PageSize {
    package static let standard: Int64 = 100
    package static let range: ClosedRange<Int64> = 1...1000
}

/// The request body of an operation.
package struct BodyDescription: Sendable {
    let schema: Schema
    /// The maximum length of a body, in bytes.
    let maximum: Int
    let contentTypes: [String]
    /// Indicates whether a body is required. If not, a missing body is equivalent to an empty object.
    let isRequired: Bool
    /// The minimum rate of a body that is read while it arrives; `nil` for a body that is read as a whole before the
    /// deadline of the request.
    let stream: StreamedBody?

    /// The maximum length of a body for which no other maximum is given: 1 MiB.
    package static let defaultMaximum = 1024 * 1024

    package init(
        _ schema: Schema,
        maximum: Int = BodyDescription.defaultMaximum,
        contentTypes: [String] = ["application/json"],
        isRequired: Bool = true,
        stream: StreamedBody? = nil
    ) {
        (self.schema, self.maximum, self.contentTypes) = (schema, maximum, contentTypes)
        (self.isRequired, self.stream) = (isRequired, stream)
    }
}

/// A response to a successful request.
package struct ResponseDescription: Sendable {
    let status: Int
    let summary: String
    /// The schema of the body; `nil` for an empty body.
    let schema: Schema?
    /// The media types of the body, to all of which the schema applies.
    let contentTypes: [String]
    /// The descriptions of header fields, keyed by name.
    let headers: [String: String]

    package init(
        status: Int,
        _ summary: String,
        _ schema: Schema? = nil,
        contentTypes: [String] = ["application/json"],
        headers: [String: String] = [:]
    ) {
        (self.status, self.summary, self.schema) = (status, summary, schema)
        (self.contentTypes, self.headers) = (contentTypes, headers)
    }

    package static let noContent = ResponseDescription(status: 204, "Done.")

    package static func ok(_ schema: Schema, _ summary: String = "The present state.") -> ResponseDescription {
        ResponseDescription(status: 200, summary, schema)
    }

    package static func created(_ schema: Schema) -> ResponseDescription {
        ResponseDescription(status: 201, "It is new.", schema)
    }
}
