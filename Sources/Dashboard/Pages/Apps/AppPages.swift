import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import WebPages

/// One app: its troubles, what is sent now, and the ways on. And the form that adds one.
struct AppPages: PageArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}", self.show),
            .get("/apps/{app}/live", self.live),
            .get("/add-app", self.showForm),
            .post("/add-app", self.add),
        ]
    }

    private func show(_ request: PageRequest) async throws -> Response {
        let app = try await request.getOfApp("")
        let overview = try await request.get("/v1/overview")
        let recent = try await request.getOfApp("/notifications?limit=5")
        let troubles = overview["trouble"].elements.map { Trouble($0, request) }.filter { $0.app == request.app }
        var model: PageModel = [
            "troubles": troubles.map(\.model), "app": PageValue.members(app),
            "live": "\(Dashboard.root)\(request.appPath)/live",
            "recent": recent["notifications"].elements.map { SendingModel.row($0, request) },
            "appHome": "\(Dashboard.root)\(request.appPath)", "may": request.permissions,
            "hasNoCredential": app["environments"].elements.isEmpty,
            "charts": try await StatisticsModel.charts(request, app: request.app),
        ]
        model.merge(SendingModel.model(Self.campaigns(overview, request), request, showsApp: false).0) { $1 }
        return request.page("app", title: app["name"].stringValue ?? request.app, model)
    }

    /// Returns the app's campaigns in progress.
    private static func campaigns(_ overview: JSONValue, _ request: PageRequest) -> [JSONValue] {
        overview["campaigns"].elements.filter { $0["app"].stringValue == request.app }
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live {
            let overview = try await request.call(.get("/v1/overview"), isNoted: false)
            let (model, count) = SendingModel.model(Self.campaigns(overview, request), request, showsApp: false)
            return .init(html: request.part("sending", model), count: count)
        }
    }

    // MARK: Adding

    private func showForm(_ request: PageRequest) async throws -> Response {
        try request.require(.admin)
        return Self.form(request, error: nil)
    }

    private static func form(_ request: PageRequest, error: RequestError?) -> Response {
        let fields = [
            FormField(
                "bundleId",
                request.texts["apps.bundleId"],
                value: request.form["bundleId"] ?? "",
                hint: request.texts["apps.bundleIdHint"],
                isRequired: true,
                maximum: 255
            ),
            FormField("name", request.texts["apps.name"], value: request.form["name"] ?? "", maximum: 200),
        ]
        let model: PageModel = [
            "action": "\(Dashboard.root)/add-app",
            "fields": FormModel.fields("app", fields, error: error), "button": request.texts["apps.add"],
        ]
        return request.page("plain-form", title: "apps.addTitle", model, error: error)
    }

    private func add(_ request: PageRequest) async throws -> Response {
        do {
            let bundleID = request.form["bundleId"] ?? ""
            let name = try request.form.text("name", maximum: 200).map(JSONValue.string)
            _ = try await request.call(.post("/v1/apps", .members(["bundleId": .string(bundleID), "name": name])))
            return request.redirect(to: "\(PageRequest.appPath(bundleID))/credentials", done: "appAdded")
        } catch let error as RequestError {
            return Self.form(request, error: error)
        }
    }
}
