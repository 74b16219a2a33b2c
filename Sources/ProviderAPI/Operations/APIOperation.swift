import HTTPTypes
import Hummingbird
import PushStore

/// One request that the REST API answers. The router and the OpenAPI document are both made from these, so that they
/// cannot tell different stories.
struct APIOperation: Sendable {
    typealias Handler = @Sendable (OperationRequest) async throws -> Response

    var method: HTTPRequest.Method
    /// Such as `/v1/apps/{app}`; what is in braces is described in ``PathParameter``.
    var path: String
    /// For generated clients and metrics: unique.
    var id: String
    var summary: String
    var tag: Tag
    /// What the API key must allow; `nil` needs no key.
    var scope: APIScope?
    /// Of the query and the header; those of the path follow from it.
    var parameters: [ParameterDescription] = []
    var body: BodyDescription?
    var answers: [ResponseDescription]
    /// Statuses of refusals besides those that follow from the rest, see ``OpenAPIDocument``.
    var refusals: Set<Int> = []
    /// The cost of its response.
    var cost = Cost.small
    /// Whether it changes something that an auditor wants to know of.
    var isAudited = false
    var handler: Handler

    enum Cost: Sendable {
        case small
        /// It may walk over everything: ended when the client has gone, or half closed the connection.
        case question
    }

    /// Where the document lists it.
    enum Tag: String, CaseIterable, Sendable {
        case apps = "Apps"
        case devices = "Devices"
        case audiences = "Audiences"
        case notifications = "Notifications"
        case schedules = "Schedules"
        case hygiene = "Tokens"
        case webhooks = "Webhooks"
        case administration = "Administration"
        case operation = "Operation"
    }

    /// The names in braces.
    var pathParameters: [String] {
        self.path.split(separator: "{").dropFirst().compactMap { $0.split(separator: "}").first.map(String.init) }
    }
}

/// A member of the query or the header.
struct ParameterDescription: Sendable {
    enum Place: String, Sendable {
        case query
        case header
    }

    var name: String
    var place = Place.query
    var summary: String
    var schema: Schema

    static func limit(default value: Int64 = 100) -> ParameterDescription {
        ParameterDescription(
            name: "limit",
            summary: "Entries in the answer; default \(value).",
            schema: .integer(1...1000)
        )
    }

    static let cursor = ParameterDescription(
        name: "cursor",
        summary: "The member next of the answer before.",
        schema: .string(length: 1...Cursor.maximumLength)
    )
    static let environment = ParameterDescription(
        name: "environment",
        summary: "Of this environment only.",
        schema: .environment
    )
}

/// What an operation takes as JSON.
struct BodyDescription: Sendable {
    var schema: Schema
    /// In bytes; default 1 MB.
    var maximum = 1024 * 1024
    var isRequired = true
    var contentTypes = ["application/json"]
    /// Read as it comes: then it has a least rate instead of a deadline for the whole.
    var isStream = false
}

/// What an operation answers when all is well.
struct ResponseDescription: Sendable {
    var status: Int
    var summary: String
    /// `nil` for an empty body.
    var schema: Schema?
    var contentType = "application/json"
    /// Further types with the same schema.
    var otherTypes: [String] = []
    /// Names of headers, and what they say.
    var headers: [String: String] = [:]

    static let noContent = ResponseDescription(status: 204, summary: "Done.")

    static func ok(_ schema: Schema, _ summary: String = "As it is now.") -> ResponseDescription {
        ResponseDescription(status: 200, summary: summary, schema: schema)
    }

    static func created(_ schema: Schema) -> ResponseDescription {
        ResponseDescription(status: 201, summary: "It is new.", schema: schema)
    }
}
