import Hummingbird
import PushProvider
import PushStore
import PushSupport
import WebPages

/// The list of an app's notifications.
struct NotificationPages: PageArea {
    private static let states = ["scheduled", "accepted", "sending", "paused", "done", "cancelled"]
    /// The notifications of a page.
    private static let count = 50

    var routes: [PageRoute] {
        [.get("/apps/{app}/notifications", self.list), .get("/apps/{app}/notifications/live", self.live)]
    }

    private func list(_ request: PageRequest) async throws -> Response {
        let notifications = try await self.notifications(request)
        var model = self.table(notifications, request)
        model["states"] = Self.states.map { state in
            [
                "value": state, "label": request.texts["notifications.states.\(state)"],
                "isChosen": state == request.query("state"),
            ] as PageModel
        }
        model["name"] = request.query("name") ?? ""
        model["isFiltered"] = request.query("state") != nil || request.query("name") != nil
        model["path"] = "\(Dashboard.root)\(request.appPath)/notifications"
        model["maySend"] = request.may(.send)
        if notifications["notifications"].elements.contains(where: Self.isRunning) {
            let query = FormText.query([
                "state": request.query("state"), "name": request.query("name"), "cursor": request.query("cursor"),
            ])
            model["live"] = "\(Dashboard.root)\(request.appPath)/notifications/live\(query)"
        }
        model["pager"] = self.pager(notifications["next"].stringValue, request)
        return request.page("notifications", title: "notifications.title", model)
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live { request in
            let notifications = try await self.notifications(request)
            let running = notifications["notifications"].elements.filter(Self.isRunning).count
            return .init(
                html: request.part("notifications-table", self.table(notifications, request)),
                count: running > 0 ? Int64(running) : nil,
                isFinal: running == 0
            )
        }
    }

    private func notifications(_ request: PageRequest) async throws -> JSONValue {
        let query = FormText.query([
            "state": request.query("state"), "name": request.query("name"), "cursor": request.query("cursor"),
            "limit": "\(Self.count)",
        ])
        return try await request.get("\(request.api)/notifications\(query)")
    }

    private func table(_ list: JSONValue, _ request: PageRequest) -> PageModel {
        let path = "\(Dashboard.root)\(request.appPath)/notifications"
        return [
            "app": request.parameter("app"), "hasRows": !list["notifications"].elements.isEmpty,
            "rows": list["notifications"].elements.map { notification -> PageModel in
                let summary = NotificationSummary(notification, texts: request.texts, format: request.format)
                var row = summary.model
                row["path"] = "\(path)/\(notification["id"].stringValue ?? "")"
                return row
            },
        ]
    }

    private func pager(_ next: String?, _ request: PageRequest) -> PageModel? {
        let path = "\(Dashboard.root)\(request.appPath)/notifications"
        let filters = (request.query("state"), request.query("name"))
        var model: PageModel = [:]
        if request.query("cursor") != nil {
            model["first"] = path + FormText.query(["state": filters.0, "name": filters.1])
        }
        if let next {
            model["next"] = path + FormText.query(["state": filters.0, "name": filters.1, "cursor": next])
        }
        return model.isEmpty ? nil : model
    }

    private static func isRunning(_ notification: JSONValue) -> Bool {
        ["accepted", "sending"].contains(notification["state"].stringValue ?? "")
    }
}
