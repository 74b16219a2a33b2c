import Foundation
import Hummingbird
import Logging
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// Performs the steps that are common to all operations: authentication, scope, rate, budget, errors, audit and
/// metrics.
struct OperationRunner: Sendable {
    let keys: APIKeys
    let rates: KeyRateLimiter
    /// The time that one query may take.
    let queryBudget: Duration
    let audit: AuditTrail
    let metrics: RequestMetrics
    let failures: FailureReporter

    /// Responds to a request. It never throws: errors become responses, and are counted and audited like others.
    func run(_ operation: ProviderOperation, _ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        var knownKey: APIKeyRecord?
        var response: Response
        do {
            let key = try await self.key(for: operation, request)
            knownKey = key
            if let key {
                UnauthenticatedConnections.markAuthenticated(context.channel)
                try self.rates.take(key.id)
            }
            try Self.authorize(key, operation)
            // The key's budget is charged with the queries of the operation.
            response = try await QueryCaller.$current.withValue(QueryCaller(budget: self.queryBudget, key: key?.id)) {
                try await operation.respond(to: request, context, query: .strict) { bytes in
                    try key.map { try self.rates.delay(of: $0.id, bytes: bytes) } ?? .zero
                }
            }
        } catch {
            response = await self.failures.response(to: error, request)
        }
        if case .audited = operation.effect, let key = knownKey {
            let action = "\(request.method.rawValue) \(request.uri.path.prefix(300))"
            await self.audit.record(action, status: response.status.code, key: key)
        }
        self.metrics.count(operation.id, status: response.status.code, duration: ContinuousClock.now - start)
        return response
    }

    /// Returns the API key of a request; `nil` for an operation that needs none.
    ///
    /// - Throws: ``RequestError`` for a request without a valid key.
    private func key(for operation: ProviderOperation, _ request: Request) async throws -> APIKeyRecord? {
        guard operation.scope != nil else { return nil }
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let key = try await self.keys.check(String(parts[1]))
        else {
            let message = "send a valid API key as 'Authorization: Bearer mk_…'"
            throw RequestError(.unauthenticated, code: "unauthorized", message: message, path: "authorization")
        }
        return key
    }

    /// - Throws: ``RequestError`` if the key lacks the scope of the operation.
    private static func authorize(_ key: APIKeyRecord?, _ operation: ProviderOperation) throws {
        guard let scope = operation.scope, key?.allows(scope) != true else { return }
        let message = "this API key lacks the scope \(scope.rawValue)"
        throw RequestError(.forbidden, code: "missing_scope", message: message, path: "authorization")
    }
}

extension APIKeyRecord {
    /// Returns `true` if this key may call operations of a scope. The scope `admin` includes all others.
    func allows(_ scope: APIScope) -> Bool {
        self.scopes.contains(scope) || self.scopes.contains(.admin)
    }
}
