import Hummingbird
import PushHTTP
import PushSupport

/// The operations at `/v1/faults`, which manage the configured faults. Changes last until the gateway stops.
struct AdminFaultsController: Controller {
    let plan: FaultPlan
    let time: any TimeSource

    var operations: [AdminOperation] {
        [
            .get("/v1/faults", "listFaults", "All faults.", self.list),
            .post("/v1/faults", "addFault", "Adds a fault.", self.add).body(.admin(FaultRule.object)),
            .delete("/v1/faults", "removeFaults", "Removes all faults.", self.removeAll),
            .delete("/v1/faults/{fault}", "removeFault", "Removes a fault.", self.remove),
        ]
    }

    /// Responds with all faults in the order in which they are evaluated, without the expired ones.
    private func list(_ request: OperationRequest) async throws -> Response {
        try .page("faults", self.plan.entries(now: self.time.now))
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let rule = try FaultRule(try await request.fields(FaultRule.object))
        let added = try self.plan.add(rule, source: .api, now: self.time.now)
        return try .json(FaultPlan.Entry(rule: added, source: .api), status: .created)
    }

    /// Removes all faults, including those of command-line flags and the faults file.
    private func removeAll(_ request: OperationRequest) async throws -> Response {
        self.plan.removeAll()
        return .noContent
    }

    private func remove(_ request: OperationRequest) async throws -> Response {
        guard self.plan.remove(request.path("fault")) else { throw RequestError.noSuch("fault") }
        return .noContent
    }
}

extension FaultPlan.Entry: ResponseObject {
    static let members: [ResponseMember<Self>] = [
        .required("rule", \.rule.json),
        .required("text", \.rule.description, "The rule in the syntax of the command-line flag."),
        .required("source", \.source, "`start` for a file or a flag, or `api`."),
        .required("seen", \.seen, "The pushes that the rule matched."),
        .required("hits", \.hits, "The matched pushes that met the fault."),
    ]
}
