import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushTypes
import WebPages

/// The start page, with the problems, the bulk notifications in progress, today's numbers, and the apps.
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

/// A problem that the API reports, in the form that pages show, with a button that leads to the remedy.
struct HealthProblemModel {
    /// The button that leads to the remedy for a problem: a link to a page, or a form that is posted immediately.
    enum Button {
        case page(label: String, path: String)
        case form(label: String, path: String)
    }

    private let trouble: HealthProblem
    private let request: PageRequest

    init(_ trouble: HealthProblem, _ request: PageRequest) { (self.trouble, self.request) = (trouble, request) }

    private var texts: LocalizedTexts { self.request.texts }
    private var code: HealthProblem.Code { self.trouble.code }
    /// The bundle id of the app that has the problem, which is empty for a problem of the server.
    var app: String { self.trouble.app?.name ?? "" }
    private var environment: String { self.trouble.environment?.rawValue ?? "" }
    private var object: String { URLText.encoded(self.trouble.object ?? "") }
    private var appPath: String { PageRequest.appPath(self.app) }

    /// A Boolean value that indicates whether the problem prevents pushes from being sent, or soon will.
    var isBad: Bool { [.appStopped, .environmentPaused, .diskLow, .certificateExpired].contains(self.code) }

    /// The variables of the template partial `trouble`. The API describes the remedy for the command line. Therefore, a
    /// problem with a button shows that description only for certain kinds of problems.
    var model: PageModel {
        let title = self.texts["trouble.\(self.code.rawValue)", ["app": self.app, "environment": self.environment]]
        var model: PageModel = [
            "kind": self.isBad ? "bad" : "warn", "title": title, "cause": self.trouble.message,
            "advice": false, "page": false, "form": false,
        ]
        if self.button == nil || [.environmentPaused, .filesMissing].contains(self.code) {
            model["advice"] = self.trouble.remedy
        }
        switch self.button {
        case .page(let label, let path):
            model["page"] = ["label": self.texts["trouble.\(label)"], "path": "\(Dashboard.root)\(path)"]
        case .form(let label, let path):
            model["form"] = ["label": self.texts["trouble.\(label)"], "path": "\(Dashboard.root)\(path)"]
        case nil: break
        }
        return model
    }

    /// The button that leads to the problem's remedy, or `nil` if there is none or the caller lacks the scope for it.
    private var button: Button? {
        let mayOperate = self.request.may(.operate)
        let credentials = "\(self.appPath)/credentials"
        switch self.code {
        case .appStopped: return mayOperate ? .form(label: "resumeApp", path: "\(self.appPath)/resume") : nil
        case .environmentPaused:
            guard mayOperate else { return .page(label: "see", path: credentials) }
            return .form(label: "resume", path: "\(credentials)/\(self.environment)/resume")
        case .certificateExpired, .certificateEnds:
            return .page(label: mayOperate ? "replace" : "see", path: "\(credentials)#\(self.environment)")
        case .breakerOpen: return .page(label: mayOperate ? "decide" : "see", path: "\(self.appPath)/tokens")
        case .scheduleProblem: return .page(label: "see", path: "\(self.appPath)/schedules/\(self.object)")
        case .webhookDisabled, .webhookFailing:
            return mayOperate ? .page(label: "see", path: "\(self.appPath)/webhooks/\(self.object)") : nil
        case .filesMissing: return .page(label: "see", path: "\(self.appPath)/publishing/files")
        case .diskLow, .logGrows, .nodeLost: return .page(label: "see", path: "/system")
        case .bridgeOverruled: return nil
        }
    }
}

/// Creates the variables of the template `sending`, for the campaigns (bulk notifications) in progress.
enum SendingModel {
    /// Returns the variables, and the number of campaigns that are being sent.
    /// - Parameters:
    ///   - campaigns: The campaigns in progress, as the API lists them.
    ///   - showsApp: Pass `true` to show the name of the app, because there are several apps.
    static func model(_ campaigns: [NotificationResponse], _ request: PageRequest, showsApp: Bool) -> (PageModel, Int64)
    {
        let count = campaigns.count { $0.notification.state == .sending }
        return (["sending": self.rows(campaigns, request), "showsApp": showsApp], Int64(count))
    }

    static func rows(_ notifications: [NotificationResponse], _ request: PageRequest) -> [PageModel] {
        notifications.map { NotificationSummary($0, request).model }
    }
}
