import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// Does around every operation what is the same for all: key, scope, rate, query, budget, errors, audit, figures.
struct OperationRunner: Sendable {
    let keys: APIKeys
    let rates: KeyRateLimiter
    /// Time that one question of a person may take.
    let questionBudget: Duration
    let audit: AuditTrail
    let metrics: RequestMetrics
    let logger: Logger

    func run(_ operation: APIOperation, _ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        var known: APIKeyRecord?
        var response: Response
        do {
            let key = try await self.key(for: operation, request)
            known = key
            if let key {
                UnauthenticatedConnections.prove(context.channel)
                try self.rates.take(key.id)
            }
            try Self.check(key, operation)
            let query = try Self.query(of: request, operation)
            if operation.body?.isStream ?? false {
                context.channel.pipeline.fireUserInboundEventTriggered(BodyStream())
            }
            let call = OperationRequest(
                request: request,
                context: context,
                query: query,
                maximumBody: operation.body?.maximum ?? 0,
                delay: { [rates = self.rates, key] bytes in
                    try key.map { try rates.delay(of: $0.id, bytes: bytes) } ?? .zero
                }
            )
            response = try await self.run(operation, call, key)
        } catch {
            response = await self.answer(to: error, request, context)
        }
        if operation.isAudited, let key = known {
            let action = "\(request.method.rawValue) \(request.uri.path.prefix(300))"
            await self.audit.record(action, status: response.status.code, key: key)
        }
        self.metrics.count(operation.id, status: response.status.code, duration: ContinuousClock.now - start)
        return response
    }

    /// What the key asks of the store is held against its budget.
    private func run(_ operation: APIOperation, _ call: OperationRequest, _ key: APIKeyRecord?) async throws -> Response
    {
        try await QueryCaller.$current.withValue(QueryCaller(budget: self.questionBudget, key: key?.id)) {
            switch operation.cost {
            case .small: try await operation.handler(call)
            case .question: try await call.context.channel.whileClientWaits { try await operation.handler(call) }
            }
        }
    }

    private func key(for operation: APIOperation, _ request: Request) async throws -> APIKeyRecord? {
        guard operation.scope != nil else { return nil }
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let key = try await self.keys.check(String(parts[1]))
        else {
            throw RequestError(
                .unauthenticated,
                code: "unauthorized",
                message: "send a valid API key as 'Authorization: Bearer mk_…'",
                path: "authorization"
            )
        }
        return key
    }

    private static func check(_ key: APIKeyRecord?, _ operation: APIOperation) throws {
        guard let scope = operation.scope else { return }
        guard let key, key.scopes.contains(scope) || key.scopes.contains(.admin) else {
            throw RequestError(
                .forbidden,
                code: "missing_scope",
                message: "this API key lacks the scope \(scope.rawValue)",
                path: "authorization"
            )
        }
    }

    /// A query item that is not known, or there twice, is refused like an unknown member of a body.
    private static func query(of request: Request, _ operation: APIOperation) throws -> [String: String] {
        let known = operation.parameters.filter { $0.place == .query }.map(\.name)
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            guard known.contains(name) else {
                let list = known.isEmpty ? "nothing" : known.joined(separator: ", ")
                throw RequestError(
                    .invalid,
                    code: "unknown_parameter",
                    message: "known here: \(list)",
                    path: String(name.prefix(100))
                )
            }
            guard query.updateValue(String(value), forKey: name) == nil else {
                throw RequestError.invalid(name, "give it once")
            }
        }
        return query
    }

    private func answer(to error: any Error, _ request: Request, _ context: APIContext) async -> Response {
        if let damage = error as? DamagedRow {
            self.logger.error(
                "what is stored cannot be read",
                metadata: ["path": "\(RedactedPath.of(request))", "error": "\(damage)"]
            )
            return JSONResponse.refusal(
                RequestError(.internalError, code: "damaged", message: "\(damage): martlet check names it")
            )
        }
        if case StoreError.cannotWrite(let why) = error {
            self.metrics.countWriteFailure()
            self.logger.error("the store cannot write", metadata: ["error": "\(why)"])
            return JSONResponse.refusal(.storageUnavailable, headers: [.retryAfter: "5"])
        }
        guard let refusal = Throttled(error) else {
            return ErrorMiddleware(logger: self.logger).answer(to: error, request, context)
        }
        self.metrics.countThrottled(refusal.refusal.code)
        await refusal.hesitate()
        return JSONResponse.refusal(refusal.refusal, headers: [.retryAfter: refusal.seconds])
    }
}

extension RequestError {
    static var storageUnavailable: RequestError {
        RequestError(
            .unavailable,
            code: "storage_unavailable",
            message: "nothing can be stored now, so nothing was done: try again later"
        )
    }
}
