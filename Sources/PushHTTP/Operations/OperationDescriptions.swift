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

    /// The query item `limit`, the number of entries in a page (``PageSize``).
    package static func limit(default value: Int64 = PageSize.standard) -> ParameterDescription {
        .query("limit", "Entries in the response; default \(value).", .integer(PageSize.range))
    }

    /// The query item `cursor`, the position at which a page begins (``Cursor``).
    package static let cursor = ParameterDescription.query(
        "cursor",
        "The member next of the page before.",
        .string(length: 1...Cursor.maximumLength)
    )
}

/// A response to a successful request.
package struct ResponseDescription: Sendable {
    let status: Int
    let summary: String
    /// The schema of the body, or `nil` for an empty body.
    let schema: Schema?
    let contentTypes: [String]
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
