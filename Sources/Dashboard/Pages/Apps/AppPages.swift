import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of one app, with its problems and its bulk notifications in progress, and the form that adds an app.
struct AppPages: PageArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}", self.show),
            .get("/apps/{app}/live", self.live),
            .get("/add-app", self.showForm),
            .post("/add-app", self.add),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "app", path: "") }

    private func show(_ request: PageRequest) async throws -> Response {
        let app = try await request.get(request.api, as: AppResponse.self)
        let ofApp = URLText.query(["app": request.app])
        let overview = try await request.get("/v1/overview\(ofApp)", as: OverviewResponse.self)
        let recent = try await request.list("\(request.api)/notifications?limit=5", of: NotificationResponse.self)
        // Problems of the server are on the overview page only.
        let troubles = overview.trouble.map { HealthProblemModel($0, request) }.filter { $0.app == request.app }
        var model: PageModel = [
            "troubles": troubles.map(\.model), "app": PageValue.members(app),
            "live": "\(Dashboard.root)\(request.appPath)/live",
            "recent": SendingModel.rows(recent.entries, request),
            "appHome": "\(Dashboard.root)\(request.appPath)", "may": request.permissions,
            "hasNoCredential": app.environments.isEmpty,
            "charts": try await StatisticsModel.charts(request, app: request.app),
        ]
        model.merge(SendingModel.model(overview.sending, request, showsApp: false).0) { $1 }
        return request.page("app", title: app.app.name ?? request.app, model)
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live { request in
            let path = "/v1/campaigns\(URLText.query(["app": request.app]))"
            let found = try await request.get(path, as: CampaignsResponse.self)
            let (model, count) = SendingModel.model(found.campaigns, request, showsApp: false)
            return .init(html: request.part("sending", model), count: count)
        }
    }

    // MARK: Adding

    private func showForm(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        return Self.form(request, error: nil)
    }

    private static func form(_ request: PageRequest, error: RequestError?) -> Response {
        let make = MemberFields(texts: request.texts, area: "apps", list: AppRequest.addition)
        let fields = ["bundleId", "name"].map { make.field($0, value: request.form[$0] ?? "") }
        let model: PageModel = [
            "action": "\(Dashboard.root)/add-app",
            "fields": FormModel.fields("app", fields, error: error), "button": request.texts["apps.add"],
        ]
        return request.page("plain-form", title: "apps.addTitle", model, error: error)
    }

    private func add(_ request: PageRequest) async throws -> Response {
        do {
            let bundleID = request.form["bundleId"] ?? ""
            let name = try request.form.text("name", of: AppRequest.addition["name"]).map(JSONValue.string)
            _ = try await request.call(.post("/v1/apps", .members(["bundleId": .string(bundleID), "name": name])))
            return request.redirect(to: "\(PageRequest.appPath(bundleID))/credentials", done: "appAdded")
        } catch let error as RequestError {
            return Self.form(request, error: error)
        }
    }
}
