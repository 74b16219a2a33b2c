import HTTPTypes
import PushStore
import PushSupport

/// The OpenAPI 3.1 document of the API.
struct OpenAPIDocument {
    static let version = MartletVersion.number

    let operations: [APIOperation]

    var json: JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        var components = Self.error.components
        for operation in self.operations {
            paths[operation.path, default: [:]][operation.method.rawValue.lowercased()] = Self.json(operation)
            for schema in operation.schemas { components.merge(schema.components) { $1 } }
        }
        let info: [String: JSONValue] = [
            "title": .string("Martlet"), "version": .string(Self.version),
            "description": .string(
                "Times are milliseconds since 1970. Unknown members and query items are refused. Lists go on with "
                    + "cursor, the member next of the answer before."
            ),
            "license": .texts(["name": "Apache-2.0", "identifier": "Apache-2.0"]),
        ]
        let key = JSONValue.texts(["type": "http", "scheme": "bearer", "description": "An API key, mk_…"])
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object(info),
            "tags": .array(APIOperation.Tag.allCases.map { .texts(["name": $0.rawValue]) }),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": .object([
                "schemas": .object(components), "securitySchemes": .object(["key": key]),
            ]),
        ])
    }

    /// The one shape of a refusal.
    static let error = Schema.object(required: [
        "error": .object(
            required: [
                "code": .string().described("For programs: stable, in snake case."),
                "message": .string().described("For people."),
            ],
            optional: ["field": .string().described("The member, query item or header at fault.")]
        )
    ]).named("Error")

    private static func json(_ operation: APIOperation) -> JSONValue {
        var members: [String: JSONValue] = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "tags": .array([.string(operation.tag.rawValue)]),
            "parameters": .array(
                operation.pathParameters.map(Self.pathParameter) + operation.parameters.map(Self.json)
            ),
            "responses": .object(Self.responses(operation)),
        ]
        if let scope = operation.scope {
            members["security"] = .array([.object(["key": .array([])])])
            members["description"] = .string("Needs a key with the scope \(scope.rawValue).")
        } else {
            members["security"] = .array([])
        }
        if let body = operation.body {
            members["requestBody"] = .object([
                "required": .bool(body.isRequired),
                "content": Self.content(body.contentTypes, body.schema),
            ])
        }
        return .object(members)
    }

    private static func pathParameter(_ name: String) -> JSONValue {
        let known = PathParameter.all[name]
        return .object([
            "name": .string(name), "in": .string("path"), "required": .bool(true),
            "description": .string(known?.summary ?? ""), "schema": known?.schema.json ?? .object([:]),
        ])
    }

    private static func json(_ parameter: ParameterDescription) -> JSONValue {
        .object([
            "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
            "description": .string(parameter.summary), "schema": parameter.schema.json,
        ])
    }

    private static func responses(_ operation: APIOperation) -> [String: JSONValue] {
        var responses: [String: JSONValue] = [:]
        for answer in operation.answers {
            var members: [String: JSONValue] = ["description": .string(answer.summary)]
            if let schema = answer.schema {
                members["content"] = Self.content([answer.contentType] + answer.otherTypes, schema)
            }
            if !answer.headers.isEmpty {
                let text = Schema.string().json
                members["headers"] = .object(
                    answer.headers.mapValues { .object(["description": .string($0), "schema": text]) }
                )
            }
            responses["\(answer.status)"] = .object(members)
        }
        for status in operation.refusalStatuses where responses["\(status)"] == nil {
            responses["\(status)"] = .object([
                "description": .string(Self.reasons[status] ?? "Refused."),
                "content": .object(["application/json": .object(["schema": Self.error.json])]),
            ])
        }
        return responses
    }

    private static func content(_ types: [String], _ schema: Schema) -> JSONValue {
        let content = types.map { ($0, JSONValue.object(["schema": schema.json])) }
        return .object(Dictionary(content, uniquingKeysWith: { first, _ in first }))
    }

    private static let reasons: [Int: String] = [
        400: "Something in the request cannot be; the error names it.",
        401: "No API key, or not a valid one.",
        403: "The API key lacks the scope.",
        404: "What the path names does not exist.",
        405: "The path does not know this method.",
        409: "The request contradicts how things are.",
        413: "The body is too large.",
        415: "The body is of none of the types that are known.",
        429: "The API key asks too much at a time: retry-after says when to come again.",
        503: "Nothing can be stored now and nothing was done, or the question takes too long to answer.",
    ]
}

extension APIOperation {
    /// Everything that it may refuse with.
    var refusalStatuses: Set<Int> {
        var statuses = self.refusals.union([400, 405])
        if self.scope != nil { statuses.formUnion([401, 403, 429, 503]) }
        if self.path.contains("{") { statuses.insert(404) }
        if self.body != nil { statuses.insert(413) }
        return statuses
    }

    fileprivate var schemas: [Schema] {
        self.parameters.map(\.schema) + self.answers.compactMap(\.schema) + (self.body.map { [$0.schema] } ?? [])
            + self.pathParameters.compactMap { PathParameter.all[$0]?.schema }
    }
}
