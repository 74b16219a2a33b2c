import Hummingbird
import PushHTTP
import PushSupport

/// `/v1/faults`: the configured faults. Changes last until the gateway ends.
struct FaultsController: Controller {
    let plan: FaultPlan
    let time: any TimeSource

    /// A fault in a response.
    private struct Fault: Encodable {
        var rule: FaultRule
        /// The rule in the syntax of the command-line flag.
        var text: String
        /// `start` for a file or a flag, or `api`.
        var source: String
        /// The pushes that the rule matched.
        var seen: Int
        /// The matched pushes that met the fault.
        var hits: Int

        init(_ entry: FaultPlan.Entry) {
            self.rule = entry.rule
            self.text = entry.rule.description
            self.source = entry.source.rawValue
            self.seen = entry.seen
            self.hits = entry.hits
        }
    }

    var operations: [AdminOperation] {
        [
            .init(.get, "/v1/faults", id: "listFaults", "All faults.", self.list),
            .init(.post, "/v1/faults", .unaudited, id: "addFault", "Adds a fault.", self.add)
                .body(.admin),
            .init(.delete, "/v1/faults", .unaudited, id: "removeFaults", "Removes all faults.", self.removeAll),
            .init(.delete, "/v1/faults/{fault}", .unaudited, id: "removeFault", "Removes a fault.", self.remove),
        ]
    }

    private func list(_ request: OperationRequest) async throws -> Response {
        try .json(["faults": self.plan.entries(now: self.time.now).map(Fault.init)])
    }

    private func add(_ request: OperationRequest) async throws -> Response {
        let rule = try await request.decode(FaultRule.self)
        let added = try self.plan.add(rule, source: .api, now: self.time.now)
        return try .json(Fault(FaultPlan.Entry(rule: added, source: .api)), status: .created)
    }

    private func removeAll(_ request: OperationRequest) async throws -> Response {
        self.plan.removeAll()
        return .noContent
    }

    private func remove(_ request: OperationRequest) async throws -> Response {
        guard self.plan.remove(request.path("fault")) else { throw RequestError.noSuch("fault") }
        return .noContent
    }
}
