import Hummingbird
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of the audit trail, which lists the changes that were made by people and with API keys.
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
