import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// Does around every operation what is the same for all: key, scope, rate, query, budget, errors, audit, figures.
struct OperationRunner: Sendable {
    let keys: APIKeys
    let rates: KeyRates
    /// Time that one question of a person may take.
    let questionBudget: Duration
    let audit: AuditTrail
    let metrics: RequestMetrics
    let logger: Logger

    func run(_ operation: Operation, _ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        var known: APIKeyRecord?
        var response: Response
        do {
            let key = try await self.key(for: operation, request)
            known = key
            if let key {
                UnprovenConnections.prove(context.channel)
                try self.rates.take(key.id)
            }
            try Self.check(key, operation)
            let query = try Self.query(of: request, operation)
            if operation.body?.isStream ?? false {
                context.channel.pipeline.fireUserInboundEventTriggered(BodyStream())
            }
            let call = Call(
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
    private func run(_ operation: Operation, _ call: Call, _ key: APIKeyRecord?) async throws -> Response {
        try await Asker.$current.withValue(Asker(budget: self.questionBudget, key: key?.id)) {
            switch operation.cost {
            case .small: try await operation.handler(call)
            case .question: try await call.context.channel.whileClientWaits { try await operation.handler(call) }
            }
        }
    }

    private func key(for operation: Operation, _ request: Request) async throws -> APIKeyRecord? {
        guard operation.scope != nil else { return nil }
        let parts = request.headers[.authorization]?.split(separator: " ", maxSplits: 1) ?? []
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let key = try await self.keys.check(String(parts[1]))
        else {
            throw APIRefusal(
                status: 401,
                code: "unauthorized",
                message: "send a valid API key as 'Authorization: Bearer mk_…'",
                field: "authorization"
            )
        }
        return key
    }

    private static func check(_ key: APIKeyRecord?, _ operation: Operation) throws {
        guard let scope = operation.scope else { return }
        guard let key, key.scopes.contains(scope) || key.scopes.contains(.admin) else {
            throw APIRefusal(
                status: 403,
                code: "missing_scope",
                message: "this API key lacks the scope \(scope.rawValue)",
                field: "authorization"
            )
        }
    }

    /// A query item that is not known, or there twice, is refused like an unknown member of a body.
    private static func query(of request: Request, _ operation: Operation) throws -> [String: String] {
        let known = operation.parameters.filter { $0.place == .query }.map(\.name)
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            let name = String(name)
            guard known.contains(name) else {
                let list = known.isEmpty ? "nothing" : known.joined(separator: ", ")
                throw APIRefusal(
                    status: 400,
                    code: "unknown_parameter",
                    message: "known here: \(list)",
                    field: String(name.prefix(100))
                )
            }
            guard query.updateValue(String(value), forKey: name) == nil else {
                throw APIRefusal.invalid(name, "give it once")
            }
        }
        return query
    }

    private func answer(to error: any Error, _ request: Request, _ context: APIContext) async -> Response {
        if let damage = error as? DamagedRow {
            self.logger.error(
                "what is stored cannot be read",
                metadata: ["path": "\(LoggedPath.of(request))", "error": "\(damage)"]
            )
            return JSONAnswer.refusal(
                APIRefusal(status: 500, code: "damaged", message: "\(damage): martlet check names it")
            )
        }
        if case StoreError.cannotWrite(let why) = error {
            self.metrics.countWriteFailure()
            self.logger.error("the store cannot write", metadata: ["error": "\(why)"])
            return JSONAnswer.refusal(.storageUnavailable, headers: [.retryAfter: "5"])
        }
        guard let refusal = Throttled(error) else {
            return RefusalMiddleware(logger: self.logger).answer(to: error, request, context)
        }
        self.metrics.countThrottled(refusal.refusal.code)
        await refusal.hesitate()
        return JSONAnswer.refusal(refusal.refusal, headers: [.retryAfter: refusal.seconds])
    }
}

extension APIRefusal {
    static var storageUnavailable: APIRefusal {
        APIRefusal(
            status: 503,
            code: "storage_unavailable",
            message: "nothing can be stored now, so nothing was done: try again later"
        )
    }
}
