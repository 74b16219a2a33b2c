package import Foundation
package import HTTPTypes
package import Hummingbird
package import PushSupport

/// An operation of an HTTP API: a method and a path, with all properties that decide how a request is treated.
///
/// The router and the OpenAPI document are both made from these values, so that they cannot disagree. Scope, audit,
/// streaming, limits and cost are properties here and never follow from the spelling of an id or a path. A table of
/// operations reads:
///
/// ```swift
/// .init(.post, "/v1/apps", .audited, id: "addApp", "Adds an app.", self.add)
///     .tag(.apps).scope(.admin).body(Self.request).responses(.created(AppResponse.schema)),
/// ```
///
/// `Scope` is the type of the scopes that a credential may have. An API without credentials uses `Never`.
package struct APIOperation<Scope: Hashable & Sendable>: Sendable {
    package typealias Handler = @Sendable (OperationRequest) async throws -> Response

    package let method: HTTPRequest.Method
    /// The path with parameters in braces, such as `/v1/apps/{app}`.
    package let path: String
    package let effect: OperationEffect
    /// The name of the operation in generated clients and metrics; unique in its API.
    package let id: String
    /// The summary in the document, one sentence.
    private(set) var summary: String
    let handler: Handler
    /// The section of the document; `nil` in an API that has no document.
    private(set) var tag: OperationTag?
    /// The scope that a caller needs; `nil` for an operation that needs none.
    package private(set) var scope: Scope?
    /// Indicates whether a caller needs a credential, with ``scope`` if there is one.
    package private(set) var isAuthenticated = false
    /// The parameters of the query and the header. Those of the path follow from ``path``.
    private(set) var parameters: [ParameterDescription] = []
    private(set) var body: BodyDescription?
    /// The responses to requests that are carried out.
    private(set) var responses: [ResponseDescription] = []
    /// The errors besides those that follow from the other properties, see ``errorKinds``.
    private(set) var errors: Set<RequestError.Kind> = []
    private(set) var cost = OperationCost.small
    /// Indicates whether the handler itself leaves out the apps that its caller may not use.
    package private(set) var isFilteredByApp = false
    /// Indicates whether a response body of any length takes no memory of its own, because it is read piece by piece or
    /// shared between requests.
    package private(set) var isStreamed = false
    /// The typical length of a page's entry and the maximum length of a page, in bytes. It is `nil` if responses are
    /// short or their length is unknown. See ``expectedLength(of:)``.
    private(set) var pageLength: (entry: Int, maximum: Int)?

    /// The kinds of errors that a response may report.
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
    /// - Parameters:
    ///   - id: The name of the operation, unique in its API.
    ///   - summary: The summary in the document, one sentence.
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

    /// Creates an operation whose summary is set by ``summary(_:)``.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ effect: OperationEffect = .readOnly,
        id: String,
        _ handler: @escaping Handler
    ) {
        self.init(method, path, effect, id: id, "", handler)
    }

    /// Sets the summary in the document.
    package func summary(_ summary: String) -> APIOperation { self.with { $0.summary = summary } }
    package func tag(_ tag: OperationTag) -> APIOperation { self.with { $0.tag = tag } }
    package func scope(_ scope: Scope) -> APIOperation { self.with { ($0.scope, $0.isAuthenticated) = (scope, true) } }

    /// Requires a credential with any scope.
    package func authenticated() -> APIOperation { self.with { $0.isAuthenticated = true } }

    package func cost(_ cost: OperationCost) -> APIOperation { self.with { $0.cost = cost } }

    /// Allows keys of single apps, although the path names no app. The handler leaves out other apps.
    package func filteredByApp() -> APIOperation { self.with { $0.isFilteredByApp = true } }

    /// Marks the operation as one whose response bodies take no memory of their own. Their bytes count on no account.
    package func streamed() -> APIOperation { self.with { $0.isStreamed = true } }

    /// Reserves memory for a page of the requested length before it is read. A request without room is refused.
    /// - Parameters:
    ///   - entry: The length of a typical entry, or the maximum where entries are long, in bytes.
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

    /// Sets a JSON body.
    /// - Parameters:
    ///   - maximum: The maximum length of a body, in bytes.
    ///   - isRequired: Whether a body is required. If not, a request without one is like one with an empty object.
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
        /// An unknown or repeated item is an error, as an unknown member of a body is.
        case strict
        /// Unknown items are ignored, and the first of repeated ones counts.
        case lenient
    }

    /// Carries out a request whose caller has been authorized.
    /// - Parameters:
    ///   - caller: The caller, if it is known.
    ///   - readBody: Reads the body of a request, up to a maximum in bytes.
    ///   - recordResource: Receives the id of the object that the request created.
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

    /// Returns the expected length of a long response to a request, in bytes. Returns `nil` if the response is short or
    /// its length is unknown.
    package func expectedLength(of request: Request) -> Int? {
        guard let (entry, maximum) = self.pageLength else { return nil }
        let text = request.uri.queryParameters["limit"]
        // A limit outside the range is rejected.
        guard let limit = text.map({ Int64($0) }) ?? PageSize.standard, PageSize.range.contains(limit)
        else { return nil }
        let length = min(entry * Int(limit), maximum)
        return length > Budget.uncountedBodyLength ? length : nil
    }

    /// Returns the declared query items, percent-decoded.
    /// - Throws: ``RequestError`` for an item with a NUL, which would end a text in the store, and for items that the
    ///   policy does not allow.
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
    /// - Parameter respond: Carries out a request, usually by ``APIOperation/respond(to:_:query:caller:readBody:recordResource:)``.
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

/// The effect of an operation on the server, and its entries in the audit.
package enum OperationEffect: Sendable {
    /// The operation changes nothing, whatever its method.
    case readOnly
    /// The operation changes something, and each request has an audit entry.
    case audited
    /// The operation changes something, and no request has an audit entry of its own.
    ///
    /// Devices and back ends call it too often, so that equal changes by a key share an entry. Or the API has no
    /// callers to tell apart.
    case unaudited
}

/// The amount of work that a response takes.
package enum OperationCost: Sendable {
    case small
    /// A query that may visit every row. It is cancelled when its client closes the connection or its half of it.
    case query
}

/// A section of the OpenAPI document.
package struct OperationTag: Hashable, Sendable {
    package let name: String

    package init(_ name: String) { self.name = name }
}

/// A group of operations that share dependencies.
package protocol Controller<Scope>: Sendable {
    associatedtype Scope: Hashable & Sendable

    var operations: [APIOperation<Scope>] { get }
    /// The parameters in the paths of its operations that the document of the API does not describe itself.
    var pathParameters: [String: OpenAPIDocument<Scope>.PathParameter] { get }
    /// The operations from which the values of ``pathParameters`` can be taken.
    var pathParameterSources: [OpenAPIDocument<Scope>.Source] { get }
}

extension Controller {
    package var pathParameters: [String: OpenAPIDocument<Scope>.PathParameter] { [:] }
    package var pathParameterSources: [OpenAPIDocument<Scope>.Source] { [] }
}
