import Hummingbird
import ProviderAPI
import PushHTTP
import PushStore
import PushTypes
import WebPages

/// The first page: what is wrong, what is sent now, today's figures, and the apps.
struct OverviewPages: PageArea {
    var routes: [PageRoute] { [.get("", self.show), .get("/overview/live", self.live)] }
    var menuEntry: MenuEntry? { MenuEntry(.top, "overview", path: "") }

    private func show(_ request: PageRequest) async throws -> Response {
        let overview = try await request.get("/v1/overview", as: OverviewResponse.self)
        let apps = try await request.list("/v1/apps", of: AppResponse.self).entries
        let troubles = overview.trouble.map { HealthProblemModel($0, request) }
        var model: PageModel = [
            "troubles": troubles.map(\.model), "apps": apps.map { Self.card($0, troubles, request) },
            "live": "\(Dashboard.root)/overview/live", "may": request.permissions,
            "addPath": "\(Dashboard.root)/add-app",
        ]
        if !apps.isEmpty {
            model.merge(SendingModel.model(overview.sending, request, showsApp: true).0) { $1 }
            model["figures"] = StatisticsModel.figures(overview.today, request)
            model["charts"] = try await StatisticsModel.charts(request, app: nil)
        }
        return request.page("overview", title: "overview.title", model)
    }

    private static func card(_ app: AppResponse, _ troubles: [HealthProblemModel], _ request: PageRequest) -> PageModel
    {
        let name = app.app.bundleID.name
        let own = troubles.filter { $0.app == name }
        let hasCredential = !app.environments.isEmpty
        var model = PageValue.members(app)
        model["path"] = "\(Dashboard.root)\(PageRequest.appPath(name))"
        model["name"] = app.app.name ?? name
        model["stateLabel"] =
            [
                "kind": own.contains(where: \.isBad) ? "bad" : own.isEmpty && hasCredential ? "good" : "warn",
                "text": !own.isEmpty
                    ? request.texts["overview.troubles", ["count": "\(own.count)"]]
                    : request.texts[hasCredential ? "overview.fine" : "overview.noCredential"],
            ] as PageModel
        return model
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live { request in
            let found = try await request.get("/v1/campaigns", as: CampaignsResponse.self)
            let (model, count) = SendingModel.model(found.campaigns, request, showsApp: true)
            return .init(html: request.part("sending", model), count: count)
        }
    }
}
