import Hummingbird
import ProviderAPI
import WebPages

/// The page of the server, with the state of the database, the dispatcher's lanes, the pending work and the nodes.
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
        model["nodes"] = (model["nodes"] as? [PageModel])?.map { node in
            ["address": false, "endedAt": false].merging(node) { $1 }
        }
        return request.page("system", title: "system.title", model)
    }
}
