import HTTPTypes
package import PushSupport

/// The OpenAPI 3.1 document of an API.
package struct OpenAPIDocument<Scope: Hashable & Sendable> {
    /// The description of a path parameter.
    package typealias PathParameter = (summary: String, schema: Schema)
    /// A path parameter, an operation, and the value for the parameter in the operation's request or response.
    ///
    /// The value is an OpenAPI runtime expression, such as `$response.body#/id`.
    package typealias Source = (parameter: String, operation: String, value: String)

    private let title: String
    private let version: String
    private let operations: [APIOperation<Scope>]
    private let tags: [OperationTag]
    private let pathParameters: [String: PathParameter]
    private let sources: [Source]
    private let scopeName: (Scope) -> String

    /// Creates the document of an API.
    /// - Parameters:
    ///   - tags: The sections of the document, in order.
    ///   - pathParameters: The descriptions of path parameters, keyed by the names in braces.
    ///   - sources: The operations that provide values for path parameters, from which links are generated.
    ///   - scopeName: Returns the name of a scope, for the description of an operation.
    package init(
        title: String,
        version: String,
        operations: [APIOperation<Scope>],
        tags: [OperationTag],
        pathParameters: [String: PathParameter],
        sources: [Source] = [],
        scopeName: @escaping (Scope) -> String
    ) {
        (self.title, self.version, self.operations, self.tags) = (title, version, operations, tags)
        (self.pathParameters, self.sources, self.scopeName) = (pathParameters, sources, scopeName)
    }

    package var json: JSONValue {
        var paths: [String: [String: JSONValue]] = [:]
        var components = Self.error.components
        for operation in self.operations {
            paths[operation.path, default: [:]][operation.method.rawValue.lowercased()] = self.json(operation)
            for schema in self.schemas(of: operation) { components.merge(schema.components) { $1 } }
        }
        let info: [String: JSONValue] = [
            "title": .string(self.title), "version": .string(self.version),
            "description": .string(
                "Times are milliseconds since 1970. Unknown members and query items are errors. null is an absent "
                    + "member, unless a description says that it removes. The member next of a page is the cursor of "
                    + "the following one."
            ),
            "license": .texts(["name": "Apache-2.0", "identifier": "Apache-2.0"]),
        ]
        let key = JSONValue.texts(["type": "http", "scheme": "bearer", "description": "An API key, mk_…"])
        return .object([
            "openapi": .string("3.1.0"),
            "info": .object(info),
            "tags": .array(self.tags.map { .texts(["name": $0.name]) }),
            "paths": .object(paths.mapValues { .object($0) }),
            "components": .object(["schemas": .object(components), "securitySchemes": .object(["key": key])]),
        ])
    }

    private static var error: Schema { .object(required: [("error", RequestError.schema)]).named("Error") }

    private func json(_ operation: APIOperation<Scope>) -> JSONValue {
        var members: [String: JSONValue] = [
            "operationId": .string(operation.id), "summary": .string(operation.summary),
            "tags": .array((operation.tag.map { [.string($0.name)] }) ?? []),
            "parameters": .array(self.parameters(of: operation).map(Self.json)),
            "responses": .object(self.responses(operation)),
        ]
        members["security"] = .array(operation.isAuthenticated ? [.object(["key": .array([])])] : [])
        if let scope = operation.scope {
            members["description"] = .string("Needs a key with the scope \(self.scopeName(scope)).")
        }
        if let body = operation.body {
            members["requestBody"] = .object([
                "required": .bool(body.isRequired), "content": Self.content(body.contentTypes, body.schema),
            ])
        }
        return .object(members)
    }

    private func parameters(of operation: APIOperation<Scope>) -> [ParameterDescription] {
        operation.pathParameters.map { name in
            let (summary, schema) = self.pathParameters[name] ?? ("", .any)
            return ParameterDescription(name: name, place: .path, summary: summary, schema: schema)
        } + operation.parameters
    }

    private func schemas(of operation: APIOperation<Scope>) -> [Schema] {
        self.parameters(of: operation).map(\.schema) + operation.responses.compactMap(\.schema)
            + (operation.body.map { [$0.schema] } ?? [])
    }

    private static func json(_ parameter: ParameterDescription) -> JSONValue {
        var members: [String: JSONValue] = [
            "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
            "description": .string(parameter.summary), "schema": parameter.schema.json,
        ]
        if case .path = parameter.place { members["required"] = .bool(true) }
        return .object(members)
    }

    private func responses(_ operation: APIOperation<Scope>) -> [String: JSONValue] {
        var responses: [String: JSONValue] = [:]
        for response in operation.responses {
            var members: [String: JSONValue] = ["description": .string(response.summary)]
            if let schema = response.schema { members["content"] = Self.content(response.contentTypes, schema) }
            let links = response.status < 300 ? self.links(from: operation) : [:]
            if !links.isEmpty { members["links"] = .object(links) }
            if !response.headers.isEmpty {
                let text = Schema.string().json
                members["headers"] = .object(
                    response.headers.mapValues { .object(["description": .string($0), "schema": text]) }
                )
            }
            responses["\(response.status)"] = .object(members)
        }
        for kind in operation.errorKinds where responses["\(kind.status.code)"] == nil {
            responses["\(kind.status.code)"] = .object([
                "description": .string(kind.explanation),
                "content": .object(["application/json": .object(["schema": Self.error.json])]),
            ])
        }
        return responses
    }

    /// Returns links to the operations whose path parameters are in a request to this operation or in its response.
    private func links(from operation: APIOperation<Scope>) -> [String: JSONValue] {
        let values = self.sources.filter { $0.operation == operation.id }.map {
            ($0.parameter, JSONValue.string($0.value))
        }
        guard !values.isEmpty else { return [:] }
        let own = operation.pathParameters.map { ($0, JSONValue.string("$request.path.\($0)")) }
        let known = Dictionary(values + own, uniquingKeysWith: { first, _ in first })
        var links: [String: JSONValue] = [:]
        for target in self.operations
        where target.pathParameters.contains(where: { name in values.contains { $0.0 == name } }) {
            let parameters = known.filter { target.pathParameters.contains($0.key) }
            guard parameters.count == target.pathParameters.count else { continue }
            links[target.id] = .object(["operationId": .string(target.id), "parameters": .object(parameters)])
        }
        return links
    }

    private static func content(_ types: [String], _ schema: Schema) -> JSONValue {
        let content = types.map { ($0, JSONValue.object(["schema": schema.json])) }
        return .object(Dictionary(content, uniquingKeysWith: { first, _ in first }))
    }
}

extension RequestError.Kind {
    fileprivate var explanation: String {
        switch self {
        case .invalid: "A value in the request is not allowed; the error names it."
        case .unauthenticated: "No API key, or not a valid one."
        case .forbidden: "The API key lacks the scope."
        case .notFound: "The path, or the query item app, names something that does not exist."
        case .methodNotAllowed: "The path does not know this method."
        case .timeout: "The request did not arrive in time."
        case .conflict: "The present state does not allow the request."
        case .tooLarge: "The body is too large."
        case .unsupportedType: "The body has none of the known types."
        case .rateLimited: "The API key exceeds its rate; retry-after names the time to wait."
        case .internalError: "The server failed."
        case .unavailable: "Nothing can be stored now and nothing was done, or the query takes too long."
        }
    }
}
