package import Foundation
package import HTTPTypes
package import Hummingbird
package import PushSupport

/// An operation of an HTTP API: its method, its path, and the properties that determine how requests are handled.
///
/// Both the router and the OpenAPI document are generated from these values, so that they cannot disagree. Scope,
/// audit, streaming, limits and cost are properties here, and never depend on the spelling of an id or a path. A table
/// of operations looks like this:
///
/// ```swift
/// .init(.post, "/v1/apps", .audited, id: "addApp", "Adds an app.", self.add)
///     .tag(.apps).scope(.admin).body(Self.request).responses(.created(AppResponse.schema)),
/// ```
///
/// `Scope` is the type of a credential's scopes. An API without credentials uses `Never`.
package struct APIOperation<Scope: Hashable & Sendable>: Sendable {
    package typealias Handler = @Sendable (OperationRequest) async throws -> Response

    package let method: HTTPRequest.Method
    /// The path, with its parameters in braces, such as `/v1/apps/{app}`.
    package let path: String
    package let effect: OperationEffect
    /// The name of the operation in generated clients and metrics, which is unique within its API.
    package let id: String
    private(set) var summary: String
    let handler: Handler
    /// The section of the OpenAPI document that describes the operation, or `nil` for an API without a document.
    private(set) var tag: OperationTag?
    /// The scope that the caller's credential must have, or `nil` if no scope is required.
    package private(set) var scope: Scope?
    /// A Boolean value that indicates whether the caller needs a credential. If ``scope`` is set, the credential must
    /// have that scope.
    package private(set) var isAuthenticated = false
    /// The parameters in the query and the header. The parameters in the path are derived from ``path``.
    private(set) var parameters: [ParameterDescription] = []
    private(set) var body: BodyDescription?
    private(set) var responses: [ResponseDescription] = []
    /// The errors in addition to those that follow from other properties (``errorKinds``).
    private(set) var errors: Set<RequestError.Kind> = []
    private(set) var cost = OperationCost.small
    /// A Boolean value that indicates whether the handler itself excludes apps to which its caller has no access.
    /// If not, a key that is limited to apps may not call the operation unless its path names an app.
    package private(set) var isFilteredByApp = false
    /// A Boolean value that indicates whether response bodies take no memory of their own, whatever their length,
    /// because they are read in pieces or shared between requests.
    package private(set) var isStreamed = false
    /// The typical length of a list entry and the maximum length of a page, in bytes, for ``expectedLength(of:)``, or
    /// `nil` if responses are short or of unknown length.
    private(set) var pageLength: (entry: Int, maximum: Int)?

    var errorKinds: Set<RequestError.Kind> {
        var kinds = self.errors.union([.invalid, .methodNotAllowed])
        if self.isAuthenticated { kinds.formUnion([.unauthenticated, .rateLimited, .unavailable]) }
        if self.scope != nil { kinds.insert(.forbidden) }
        if !self.pathParameters.isEmpty || self.isFilteredByApp { kinds.insert(.notFound) }
        if self.body != nil { kinds.insert(.tooLarge) }
        return kinds
    }

    /// The names of the parameters in the path, in their order.
    package let pathParameters: [String]
}

// MARK: Construction

extension APIOperation {
    /// Creates an operation, which needs no credential until ``scope(_:)`` or ``authenticated()`` is applied.
    /// - Parameters:
    ///   - id: The name of the operation, which is unique within its API.
    ///   - summary: The summary in the OpenAPI document, which is a single sentence.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ effect: OperationEffect = .readOnly,
        id: String,
        _ summary: String,
        _ handler: @escaping Handler
    ) {
        (self.method, self.path, self.effect) = (method, path, effect)
        (self.id, self.summary, self.handler) = (id, summary, handler)
        self.pathParameters = path.split(separator: "{").dropFirst().compactMap {
            $0.split(separator: "}").first.map(String.init)
        }
    }

    /// Creates an operation whose summary is set afterwards by ``summary(_:)``.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ effect: OperationEffect = .readOnly,
        id: String,
        _ handler: @escaping Handler
    ) {
        self.init(method, path, effect, id: id, "", handler)
    }

    package func summary(_ summary: String) -> APIOperation { self.with { $0.summary = summary } }
    package func tag(_ tag: OperationTag) -> APIOperation { self.with { $0.tag = tag } }
    package func scope(_ scope: Scope) -> APIOperation { self.with { ($0.scope, $0.isAuthenticated) = (scope, true) } }

    /// Requires a credential, whatever its scope.
    package func authenticated() -> APIOperation { self.with { $0.isAuthenticated = true } }

    package func cost(_ cost: OperationCost) -> APIOperation { self.with { $0.cost = cost } }

    /// Allows keys that are limited to apps, although the path names no app. The handler must exclude other apps.
    package func filteredByApp() -> APIOperation { self.with { $0.isFilteredByApp = true } }

    /// Marks the operation's response bodies as taking no memory of their own, so that they are charged to no account.
    package func streamed() -> APIOperation { self.with { $0.isStreamed = true } }

    /// Makes each request reserve memory for a page of the requested length before the page is read. A request is
    /// rejected if the memory budget is used up.
    /// - Parameters:
    ///   - entry: The length of a typical entry in bytes, or the maximum length if entries are long.
    ///   - maximum: The maximum length of a page, in bytes.
    package func reservingPage(ofEntries entry: Int, atMost maximum: Int = .max) -> APIOperation {
        self.with { $0.pageLength = (entry: entry, maximum: maximum) }
    }

    package func parameters(_ parameters: ParameterDescription...) -> APIOperation {
        self.with { $0.parameters += parameters }
    }

    package func parameters(_ parameters: [ParameterDescription]) -> APIOperation {
        self.with { $0.parameters += parameters }
    }

    package func body(_ body: BodyDescription) -> APIOperation { self.with { $0.body = body } }

    /// Declares a JSON body.
    /// - Parameters:
    ///   - maximum: The maximum length of a body, in bytes.
    ///   - isRequired: Whether a body is required. If not, a missing body is equivalent to an empty object.
    package func body(
        _ schema: Schema,
        maximum: Int = BodyDescription.defaultMaximum,
        isRequired: Bool = true
    ) -> APIOperation {
        self.body(BodyDescription(schema, maximum: maximum, isRequired: isRequired))
    }

    package func responses(_ responses: ResponseDescription...) -> APIOperation {
        self.with { $0.responses = responses }
    }

    package func errors(_ errors: RequestError.Kind...) -> APIOperation { self.with { $0.errors = Set(errors) } }

    private func with(_ change: (inout APIOperation) -> Void) -> APIOperation {
        var operation = self
        change(&operation)
        return operation
    }
}

extension APIOperation {
    /// The handling of query items that an operation does not declare.
    package enum QueryPolicy: Sendable {
        /// The policy by which an unknown or repeated item is an error, like an unknown member of a body.
        case strict
        /// The policy by which unknown items are ignored. Of repeated items, the first one is used.
        case lenient
    }

    /// Performs the operation for a request whose caller has been authorized.
    /// - Parameters:
    ///   - caller: The caller, or `nil` if it is unknown.
    ///   - readBody: Reads the body of a request, with the given maximum length in bytes.
    ///   - recordResource: Receives the id of the object that the request has created.
    /// - Throws: ``RequestError``, or any error of the handler.
    package func respond(
        to request: Request,
        _ context: APIContext,
        query policy: QueryPolicy,
        caller: APICaller? = nil,
        readBody: @escaping @Sendable (Request, Int) async throws -> Data = { try await $0.wholeBody(maximum: $1) },
        recordResource: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> Response {
        let checked = OperationRequest(
            http: request,
            context: context,
            query: try self.query(of: request, policy),
            caller: caller,
            maximumBody: self.body?.maximum ?? 0,
            requiresBody: self.body?.isRequired ?? true,
            readBody: readBody,
            recordResource: recordResource
        )
        if let stream = self.body?.stream { context.channel.pipeline.fireUserInboundEventTriggered(stream) }
        switch self.cost {
        case .small: return try await self.handler(checked)
        case .query: return try await context.channel.withClientConnected { try await self.handler(checked) }
        }
    }

    /// Returns the expected length of the response to a request, in bytes, or `nil` if it is short or unknown.
    package func expectedLength(of request: Request) -> Int? {
        guard let (entry, maximum) = self.pageLength else { return nil }
        let text = request.uri.queryParameters["limit"]
        // A limit outside the range is rejected later.
        guard let limit = text.map({ Int64($0) }) ?? PageSize.standard, PageSize.range.contains(limit)
        else { return nil }
        let length = min(entry * Int(limit), maximum)
        return length > Budget.uncountedBodyLength ? length : nil
    }

    /// Returns the declared query items, with percent-encoding removed.
    /// - Throws: ``RequestError`` for items that the policy forbids, and for an item with a NUL, which would end a text
    ///   in the store.
    private func query(of request: Request, _ policy: QueryPolicy) throws -> [String: String] {
        let known = self.parameters.filter { $0.place == .query }.map(\.name)
        let items = request.uri.queryParameters.map { (String($0.key), String($0.value)) }
        for (name, value) in items where known.contains(name) && value.utf8.contains(0) {
            throw RequestError.invalid(name, "it must not have a NUL")
        }
        guard policy == .strict else {
            return Dictionary(items.filter { known.contains($0.0) }, uniquingKeysWith: { first, _ in first })
        }
        var query: [String: String] = [:]
        for (name, value) in items {
            guard known.contains(name) else {
                let message = "known here: \(known.isEmpty ? "nothing" : known.joined(separator: ", "))"
                let path = String(name.prefix(100))
                throw RequestError(.invalid, code: "unknown_parameter", message: message, path: path)
            }
            guard query.updateValue(value, forKey: name) == nil else {
                throw RequestError.invalid(name, "give it once")
            }
        }
        return query
    }
}

extension Router where Context == APIContext {
    /// Adds a route for each operation.
    /// - Parameter respond: Performs the operation, usually by
    ///   ``APIOperation/respond(to:_:query:caller:readBody:recordResource:)``.
    package func add<Scope>(
        _ operations: [APIOperation<Scope>],
        respond: @escaping @Sendable (APIOperation<Scope>, Request, APIContext) async throws -> Response
    ) {
        for operation in operations {
            self.on(RouterPath(operation.path), method: operation.method) { request, context in
                try await respond(operation, request, context)
            }
        }
    }
}

/// The effect of an operation on the server, which determines its entries in the audit log.
package enum OperationEffect: Sendable {
    /// The effect of an operation that changes nothing, regardless of its method.
    case readOnly
    /// The effect of an operation that makes changes. Each request gets an entry in the audit log.
    case audited
    /// The effect of an operation that makes changes whose requests get no separate entries in the audit log.
    ///
    /// Either devices and back ends call it very often, so that equal changes by a key share one entry, or the API does
    /// not distinguish callers.
    case unaudited
}

/// The amount of work that a response requires. Only costly work is cancelled if the client closes the connection.
package enum OperationCost: Sendable {
    case small
    /// A query that may read every row of a table.
    case query
}

/// A section of the OpenAPI document, in which operations are grouped.
package struct OperationTag: Hashable, Sendable {
    package let name: String

    package init(_ name: String) { self.name = name }
}

/// A group of operations with the same dependencies.
package protocol Controller<Scope>: Sendable {
    associatedtype Scope: Hashable & Sendable

    var operations: [APIOperation<Scope>] { get }
    /// The descriptions of the operations' path parameters that the OpenAPI document does not describe itself.
    var pathParameters: [String: OpenAPIDocument<Scope>.PathParameter] { get }
    /// The operations from which clients can take values for ``pathParameters``.
    var pathParameterSources: [OpenAPIDocument<Scope>.Source] { get }
}

extension Controller {
    package var pathParameters: [String: OpenAPIDocument<Scope>.PathParameter] { [:] }
    package var pathParameterSources: [OpenAPIDocument<Scope>.Source] { [] }
}
