package import HTTPTypes
package import Hummingbird
package import PushSupport

/// One operation of an HTTP API: a method and a path, with everything that decides how a request is treated.
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
/// `Scope` is what a credential may allow. An API without credentials uses `Never`.
package struct APIOperation<Scope: Hashable & Sendable>: Sendable {
    package typealias Handler = @Sendable (OperationRequest) async throws -> Response

    package let method: HTTPRequest.Method
    /// The path with parameters in braces, such as `/v1/apps/{app}`.
    package let path: String
    package let effect: OperationEffect
    /// The name of the operation in generated clients and metrics; unique in its API.
    package let id: String
    /// One sentence for the document.
    private(set) var summary: String
    let handler: Handler
    /// The section of the document; `nil` in an API that has no document.
    private(set) var tag: OperationTag?
    /// The scope that a caller needs; `nil` for an operation that needs none.
    package private(set) var scope: Scope?
    /// Indicates whether a caller needs a credential, of ``scope`` or of any.
    package private(set) var isAuthenticated = false
    /// The parameters of the query and the header. Those of the path follow from it.
    private(set) var parameters: [ParameterDescription] = []
    private(set) var body: BodyDescription?
    /// The responses to requests that are carried out.
    private(set) var responses: [ResponseDescription] = []
    /// The errors besides those that follow from the other properties, see ``errorKinds``.
    private(set) var errors: Set<RequestError.Kind> = []
    private(set) var cost = OperationCost.small
    /// Indicates whether the handler itself leaves out the apps that its caller may not use.
    package private(set) var isFilteredByApp = false
    /// Indicates whether the body of a response takes no memory of its own, however long it is: it is read piece by piece, or kept
    /// for all.
    package private(set) var isStreamed = false
    /// The length of an entry of a page and the maximum length of a page, in bytes; `nil` if responses are short, or their length is
    /// not known before. See ``expectedLength(of:)``.
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

    /// The names in braces in the path, in their order.
    package let pathParameters: [String]
}

// MARK: Construction

extension APIOperation {
    /// - Parameters:
    ///   - id: The name of the operation, unique in its API.
    ///   - summary: One sentence for the document.
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

    /// Makes an operation whose summary follows with ``summary(_:)``.
    package init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ effect: OperationEffect = .readOnly,
        id: String,
        _ handler: @escaping Handler
    ) {
        self.init(method, path, effect, id: id, "", handler)
    }

    /// Sets the sentence for the document.
    package func summary(_ summary: String) -> APIOperation { self.with { $0.summary = summary } }
    package func tag(_ tag: OperationTag) -> APIOperation { self.with { $0.tag = tag } }
    package func scope(_ scope: Scope) -> APIOperation {
        self.with { ($0.scope, $0.isAuthenticated) = (scope, true) }
    }

    /// Requires a credential, whatever its scopes are.
    package func authenticated() -> APIOperation { self.with { $0.isAuthenticated = true } }

    package func cost(_ cost: OperationCost) -> APIOperation { self.with { $0.cost = cost } }

    /// Lets keys of single apps make requests to an operation that names no app.
    package func filteredByApp() -> APIOperation { self.with { $0.isFilteredByApp = true } }

    /// Lets the body of a response be long without an account: it takes no memory of its own.
    package func streamed() -> APIOperation { self.with { $0.isStreamed = true } }

    /// Refuses a request before anything is read for it, unless there is room for a page with as many entries as it asks for.
    ///
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
    ///
    /// - Parameters:
    ///   - maximum: The longest body, in bytes.
    ///   - isRequired: `false` where a request without a body is like one with an empty object.
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
