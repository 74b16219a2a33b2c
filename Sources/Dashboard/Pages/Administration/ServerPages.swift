import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of the audit trail, which lists the changes that people and API keys have made.
struct AuditPages: PageArea {
    private static let results = ["", "done", "rejected"]

    var routes: [PageRoute] { [.get("/audit", self.show)] }
    var menuEntry: MenuEntry? { MenuEntry(.server, "audit", scope: .admin) }

    private func show(_ request: PageRequest) async throws -> Response {
        let (name, action) = (request.query("name"), request.query("action"))
        let result = request.query("result").flatMap { Self.results.contains($0) ? $0 : nil }
        let (from, to) = (request.query("from"), request.query("to"))
        var model: PageModel = [
            "path": "\(Dashboard.root)/audit", "name": name ?? "", "action": action ?? "",
            "from": TimeField.value(from), "to": TimeField.value(to),
            "results": Self.results.map { value -> PageModel in
                let label = request.texts["audit.results.\(value.isEmpty ? "any" : value)"]
                return ["value": value, "label": label, "chosen": value == result ?? ""]
            },
            "entries": [PageModel](),
        ]
        do {
            let query = URLText.query([
                "name": name, "action": action, "result": result, "from": TimeField.json(from)?.stringValue,
                "to": TimeField.json(to)?.stringValue, "cursor": request.query("cursor"), "limit": "50",
            ])
            let found = try await request.list("/v1/audit\(query)", of: AuditRecord.self)
            model["entries"] = found.entries.map { Self.row($0) }
            model["pager"] = request.pager(
                found.next,
                path: "/audit",
                ["name": name, "action": action, "result": result, "from": from, "to": to]
            )
            return request.page("audit", title: "audit.title", model)
        } catch let error as RequestError where error.kind == .invalid {
            model["problems"] = FieldErrors.model(error)
            return request.page("audit", title: "audit.title", model, error: error, status: .ok)
        }
    }

    private static func row(_ entry: AuditRecord) -> PageModel {
        var model = PageValue.members(entry)
        model["kind"] = entry.status < 400 ? "good" : "bad"
        model["status"] = "\(entry.status)"
        if entry.count <= 1 { model["count"] = false }
        if model["resource"] == nil { model["resource"] = false }
        return model
    }
}

/// The page of the server, with the state of the store, the lanes, the pending work and the nodes.
struct SystemPages: PageArea {
    var routes: [PageRoute] { [.get("/system", self.show)] }
    var menuEntry: MenuEntry? { MenuEntry(.server, "system") }

    private func show(_ request: PageRequest) async throws -> Response {
        let system = try await request.get("/v1/system", as: SystemResponse.self)
        var model = PageValue.members(system)
        if model["retryLagSeconds"] == nil { model["retryLagSeconds"] = false }
        var store = PageValue.members(system.store)
        let migrations = system.store.migrations
        store["schema"] = migrations.last ?? ""
        store["migrationCount"] = "\(migrations.count)"
        if store["diskAvailableBytes"] == nil { store["diskAvailableBytes"] = false }
        model["store"] = store
        model["states"] = system.notifications.sorted { $0.key < $1.key }.map { name, count -> PageModel in
            let label = StateLabel.model(name == "accepted" ? "due" : name, request.texts)
            return ["stateLabel": label, "count": PageNumber(value: Double(count))]
        }
        return request.page("system", title: "system.title", model)
    }
}
