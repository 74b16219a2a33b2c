import Hummingbird
import PushHTTP
import PushSupport

/// `/v1/faults`: how the gateway misbehaves on command. What is changed here lasts until the gateway ends.
struct FaultsController: AdminRoutes {
    let plan: FaultPlan
    let time: any TimeSource

    private struct Fault: Encodable {
        var rule: FaultRule
        /// The rule as a command-line flag has it.
        var text: String
        /// `start` for a file or a flag, `api`.
        var source: String
        /// What it covered, and what it met.
        var seen: Int
        var hits: Int

        init(_ entry: FaultPlan.Entry) {
            self.rule = entry.rule
            self.text = entry.rule.description
            self.source = entry.source.rawValue
            self.seen = entry.seen
            self.hits = entry.hits
        }
    }

    func addRoutes(to group: RouterGroup<AdminContext>) {
        group.get("faults", use: self.list).post("faults", use: self.add)
        group.delete("faults", use: self.removeAll).delete("faults/:fault", use: self.remove)
    }

    @Sendable private func list(_ request: Request, _ context: AdminContext) async throws -> Response {
        try JSONResponse.make(.ok, ["faults": self.plan.entries(now: self.time.now).map(Fault.init)])
    }

    @Sendable private func add(_ request: Request, _ context: AdminContext) async throws -> Response {
        let rule = try RequestError.decode(FaultRule.self, from: try await context.body(of: request))
        let added = try self.plan.add(rule, source: .api, now: self.time.now)
        return try JSONResponse.make(.created, Fault(FaultPlan.Entry(rule: added, source: .api)))
    }

    @Sendable private func removeAll(_ request: Request, _ context: AdminContext) async throws -> Response {
        self.plan.removeAll()
        return Response(status: .noContent)
    }

    @Sendable private func remove(_ request: Request, _ context: AdminContext) async throws -> Response {
        guard let id = context.parameters.get("fault"), self.plan.remove(id) else {
            throw RequestError(
                .notFound,
                code: "no_such_fault",
                message: "there is no fault with this id",
                path: "fault"
            )
        }
        return Response(status: .noContent)
    }
}
