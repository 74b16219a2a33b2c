import Foundation
import HTTPTypes
import Hummingbird
import Logging
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// Does around every operation what is the same for all: key, scope, query, errors, audit, figures.
struct OperationRunner: Sendable {
    let keys: APIKeys
    let audit: any AuditStore
    let metrics: RequestMetrics
    let time: any TimeSource
    let logger: Logger

    func run(_ operation: Operation, _ request: Request, _ context: APIContext) async -> Response {
        let start = ContinuousClock.now
        var key: APIKeyRecord?
        var response: Response
        do {
            key = try await self.key(for: operation, request)
            try Self.check(key, operation)
            let query = try Self.query(of: request, operation)
            response = try await operation.handler(
                Call(
                    request: request,
                    context: context,
                    query: query,
                    maximumBody: operation.body?.maximum ?? 0
                )
            )
        } catch {
            response = self.answer(to: error, request, context)
        }
        if operation.isAudited, let key {
            await self.record(request, status: response.status.code, key: key)
        }
        self.metrics.count(operation.id, status: response.status.code, duration: ContinuousClock.now - start)
        return response
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

    private func answer(to error: any Error, _ request: Request, _ context: APIContext) -> Response {
        if let damage = error as? DamagedRow {
            self.logger.error(
                "what is stored cannot be read",
                metadata: ["path": "\(LoggedPath.of(request))", "error": "\(damage)"]
            )
            return JSONAnswer.refusal(
                APIRefusal(status: 500, code: "damaged", message: "\(damage): martlet check names it")
            )
        }
        guard case StoreError.cannotWrite(let why) = error else {
            return RefusalMiddleware(logger: self.logger).answer(to: error, request, context)
        }
        self.metrics.countWriteFailure()
        self.logger.error("the store cannot write", metadata: ["error": "\(why)"])
        return JSONAnswer.refusal(.storageUnavailable, headers: [.retryAfter: "5"])
    }

    /// The change stands even if this fails: it is said in the log then.
    private func record(_ request: Request, status: Int, key: APIKeyRecord) async {
        let entry = AuditRecord(
            at: self.time.recorded,
            key: key.id,
            keyName: key.name,
            action: "\(request.method.rawValue) \(request.uri.path.prefix(300))",
            status: status
        )
        do {
            try await self.audit.addAudit(entry)
        } catch {
            self.logger.error(
                "an audit entry could not be written",
                metadata: [
                    "action": "\(request.method.rawValue) \(LoggedPath.of(request))", "key": "\(key.id)",
                    "error": "\(error)",
                ]
            )
        }
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
