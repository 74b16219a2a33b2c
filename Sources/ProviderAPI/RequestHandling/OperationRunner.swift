package import Hummingbird
package import Logging
package import NIOCore
package import ProviderModel
package import PushHTTP
package import PushProvider
import PushStore
package import PushSupport
import Synchronization

/// Performs the common steps of all operations: authentication, scope, app, rate, budget, errors, audit and metrics.
package struct OperationRunner: Sendable {
    package let keys: APIKeys
    let apps: AppAuthorization
    package let budgets: BudgetRegistry
    /// The limiter of the listener's connections, which charges them to the accounts of their callers.
    package let connections: ConnectionLimiter
    /// The maximum time that one query of the store may take before it is aborted.
    let queryBudget: Duration
    let audit: AuditTrail
    package let metrics: RequestMetrics
    let refusals: RefusedKeyLog
    package let failures: FailureReporter

    /// Responds to a request for an operation. Errors become responses, which are counted and audited like others.
    func run(_ operation: ProviderOperation, _ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        var known: APICaller?
        var response: Response
        let effects = RequestEffects()
        do {
            let caller = try await self.caller(for: operation, request, context)
            known = caller
            if let caller {
                // A public key is contained in every copy of an app, so its connection stays assigned to its network.
                // The rate of the client is checked first, so that one client cannot use up the rate of the key.
                if caller.isPublic { try self.budgets.countPublicRequest(from: context.channel) }
                try self.budgets.countRequest(of: caller)
                if !caller.isPublic { try self.connections.assign(context.channel, to: caller.account) }
            }
            try Self.authorize(caller, operation)
            if let caller { try await self.apps.check(caller, operation, context) }
            // The operation's queries of the store are charged to the caller's account.
            let account = caller.map { $0.account(of: context.bundleID ?? $0.onlyApp) } ?? BudgetCaller()
            let asker = QueryCaller(budget: self.queryBudget, account: account)
            // All copies of an app have the same public key, so the bytes of a client are charged to the client's site.
            let isStranger = caller?.isPublic ?? true
            let client = isStranger ? BudgetCaller(app: account.app, from: context.channel)?.site ?? account : account
            // The expected length is reserved while the response is created, because creating many responses at the
            // same time needs more memory than the responses themselves.
            let expected = try operation.expectedLength(of: request).map {
                try self.budgets[.responseBytes].take($0, for: client)
            }
            let made = try await QueryCaller.$current.withValue(asker) {
                try await operation.respond(
                    to: request,
                    context,
                    query: .strict,
                    caller: caller,
                    readBody: { request, maximum in
                        let (body, held) = try await request.wholeBody(
                            maximum: maximum,
                            from: self.budgets[.bodyBytes],
                            for: client,
                            asItArrives: isStranger
                        )
                        effects.hold(held)
                        if let caller { try await self.budgets.pace(body, of: isStranger ? client : caller.account) }
                        return body
                    },
                    recordResource: { effects.made($0) }
                )
            }
            response = try self.holding(made, of: operation, for: client, on: context.channel, expected, effects)
        } catch {
            response = await self.failures.response(to: error, request)
        }
        effects.end()
        if let known, let isFrequent = AuditTrail.isFrequent(operation.effect) {
            let status = response.status.code
            // Failed requests for frequent changes are not audited.
            if !isFrequent || status < 400 {
                let path = AuditTrail.path(request.uri.path, of: operation).prefix(300)
                let action = "\(request.method.rawValue) \(path)"
                let made = effects.resource
                await self.audit.record(action, resource: made, status: status, by: known, isFrequent: isFrequent)
            }
        }
        self.refusals.note(status: response.status.code, key: known?.name)
        self.metrics.count(operation.id, status: response.status.code, duration: ContinuousClock.now - start)
        return response
    }

    /// Returns the response, with a permit for the bytes of a long body that is held until `reader` has received them.
    ///
    /// A change that was made can no longer be refused. If the budget is exhausted, the response to the change holds
    /// the permit for the request's body instead.
    /// - Parameter expected: The permit for the expected length, or `nil` if nothing was reserved.
    /// - Throws: `BudgetRefusal` for the response of an operation that changes nothing.
    private func holding(
        _ response: Response,
        of operation: ProviderOperation,
        for reader: BudgetCaller,
        on channel: any Channel,
        _ expected: BudgetPermit?,
        _ effects: RequestEffects
    ) throws(BudgetRefusal) -> Response {
        guard !operation.isStreamed, let length = response.longBody else {
            expected?.end()
            return response
        }
        do throws(BudgetRefusal) {
            if let expected {
                try expected.adjust(to: length)
                return response.holding(expected, on: channel)
            }
            return response.holding(try self.budgets[.responseBytes].take(length, for: reader), on: channel)
        } catch {
            if operation.effect == .readOnly { throw error }
            guard let held = effects.handOver() else { return response }
            return response.holding(held, on: channel)
        }
    }

    /// Returns the caller of a request. It is the caller in the context if a page made the request, or else that of the
    /// API key. Returns `nil` for an operation that requires no caller.
    /// - Throws: ``RequestError`` for a request without a valid key.
    private func caller(
        for operation: ProviderOperation,
        _ request: Request,
        _ context: APIContext
    ) async throws -> APICaller? {
        guard operation.isAuthenticated else { return nil }
        if let caller = context.caller { return caller }
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let key = try await self.key(String(parts[1]), from: context.channel)
        else {
            let message = "send a valid API key as 'Authorization: Bearer mk_…'"
            throw RequestError(.unauthenticated, code: "unauthorized", message: message, path: "authorization")
        }
        return APICaller(key)
    }

    /// Returns the record of the API key that a client has sent, or `nil` if the key is unknown.
    /// - Throws: ``RequestError`` for an expired key, or `BudgetRefusal` for a client that sent too many wrong keys.
    package func key(_ text: String, from channel: any Channel) async throws -> APIKeyRecord? {
        try await self.keys.check(
            text,
            wrong: self.budgets[.wrongSecrets],
            of: BudgetCaller(from: channel) ?? BudgetCaller()
        )
    }

    /// Throws a ``RequestError`` if the operation requires a scope that the caller lacks. A `nil` caller has no scope.
    private static func authorize(_ caller: APICaller?, _ operation: ProviderOperation) throws {
        if caller?.isPublic == true, operation.scope != .registerSelf {
            let message = "a public key registers devices, and nothing else"
            throw RequestError(.forbidden, code: "missing_scope", message: message, path: "authorization")
        }
        guard let scope = operation.scope, caller?.allows(scope) != true else { return }
        let message = "\(caller?.text ?? "this request") lacks the scope \(scope.rawValue)"
        throw RequestError(.forbidden, code: "missing_scope", message: message, path: "authorization")
    }
}

/// The results that a handler passes on besides its response: the id of the object that it created, and the permit of
/// the request's body.
private final class RequestEffects: Sendable {
    private let state = Mutex<(resource: String?, held: BudgetPermit?)>((nil, nil))

    var resource: String? { self.state.withLock { $0.resource } }

    func made(_ id: String) { self.state.withLock { $0.resource = id } }

    func hold(_ permit: BudgetPermit?) { self.state.withLock { $0.held = permit } }

    /// Returns the permit for the request's body, which the caller must then release, or `nil` if there is none.
    func handOver() -> BudgetPermit? { self.state.withLock { $0.held.take() } }

    /// Releases the permit of the request's body, unless it was handed over.
    func end() { self.state.withLock { $0.held }?.end() }
}

extension OperationRunner {
    /// Runs the handler of a route that is not below `/v1`. It counts the response, and converts errors into responses
    /// that the route's clients understand.
    /// - Parameters:
    ///   - operation: The name of the operation at `/metrics`.
    ///   - place: The metadata of log lines, which replaces the path because the path may contain a secret.
    ///   - failure: The closure that creates the response to an error.
    ///   - body: The handler.
    package func respond(
        _ operation: String,
        at place: Logger.Metadata,
        failure: (RequestError) -> Response,
        _ body: () async throws -> Response
    ) async -> Response {
        let start = ContinuousClock.now
        var response: Response
        do {
            response = try await body()
        } catch let error as RequestError {
            response = failure(error)
        } catch {
            if let (error, headers) = await self.failures.report(error, place) {
                response = failure(error)
                // These header fields, such as `retry-after`, replace those that the route has set.
                for field in headers { response.headers[field.name] = field.value }
            } else {
                response = failure(self.failures.unknown(error, "request could not be processed", place))
            }
        }
        self.metrics.count(operation, status: response.status.code, duration: ContinuousClock.now - start)
        return response
    }
}
