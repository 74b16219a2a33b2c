import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page with the list of an app's notifications.
struct NotificationListPages: PageArea {
    private static let states = ["scheduled", "accepted", "sending", "paused", "done", "cancelled"]
    /// The sort orders of the list, which are chosen in the column headers. By default, the newest are first.
    private static let sorts = ["name", "recipients", "state"]
    private static let count = 50

    private struct Search {
        let state, name, key, sort: String?

        init(_ request: PageRequest) {
            (self.state, self.name) = (request.query("state"), request.query("name"))
            self.key = request.query("key")
            self.sort = request.query("sort").flatMap { NotificationListPages.sorts.contains($0) ? $0 : nil }
        }

        var isFiltered: Bool { self.state != nil || self.name != nil || self.key != nil }

        func items(sort: String?, key: String?) -> KeyValuePairs<String, String?> {
            ["state": self.state, "name": self.name, "key": key, "sort": sort]
        }

        func query(cursor: String?) -> String {
            URLText.query([
                "state": self.state, "nameContains": self.name, "key": self.key, "sort": self.sort, "cursor": cursor,
                "limit": "\(NotificationListPages.count)",
            ])
        }
    }

    var routes: [PageRoute] {
        [.get("/apps/{app}/notifications", self.list), .get("/apps/{app}/notifications/live", self.live)]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "notifications") }

    private func list(_ request: PageRequest) async throws -> Response {
        let search = Search(request)
        var model = self.form(search, request)
        do {
            let found = try await self.notifications(search, request)
            model.merge(self.table(found, search, request)) { $1 }
            let path = "\(request.appPath)/notifications"
            if found.entries.contains(where: Self.isRunning) {
                let items = URLText.query([
                    "state": search.state, "name": search.name, "key": search.key, "sort": search.sort,
                    "cursor": request.query("cursor"),
                ])
                model["live"] = "\(Dashboard.root)\(path)/live\(items)"
            }
            model["pager"] = request.pager(found.next, path: path, search.items(sort: search.sort, key: search.key))
            return request.page("notifications", title: "notifications.title", model)
        } catch let error as RequestError where error.kind == .invalid {
            model["app"] = request.app
            model["problems"] = FieldErrors.model(error, names: ["nameContains": "name"])
            return request.page("notifications", title: "notifications.title", model, error: error, status: .ok)
        }
    }

    private func live(_ request: PageRequest) async throws -> Response {
        let search = Search(request)
        return request.live { request in
            let found = try await self.notifications(search, request)
            let running = found.entries.count(where: Self.isRunning)
            return .init(
                html: request.part("notifications-table", self.table(found, search, request)),
                count: running > 0 ? Int64(running) : nil,
                isFinal: running == 0
            )
        }
    }

    private func notifications(
        _ search: Search,
        _ request: PageRequest
    ) async throws -> ResponsePage<NotificationResponse> {
        let query = search.query(cursor: request.query("cursor"))
        return try await request.list("\(request.api)/notifications\(query)", of: NotificationResponse.self)
    }

    private func form(_ search: Search, _ request: PageRequest) -> PageModel {
        [
            "path": Self.path(request), "maySend": request.may(.send), "name": search.name ?? "",
            "key": search.key ?? false, "keyName": search.key ?? "", "sortedBy": search.sort ?? false,
            "isFiltered": search.isFiltered,
            "states": Self.states.map { state -> PageModel in
                [
                    "value": state, "label": request.texts["notifications.states.\(state)"],
                    "isChosen": state == search.state,
                ]
            },
        ]
    }

    private func table(
        _ list: ResponsePage<NotificationResponse>,
        _ search: Search,
        _ request: PageRequest
    ) -> PageModel {
        let path = Self.path(request)
        var (sorted, links): (PageModel, PageModel) = ([:], [:])
        sorted[search.sort ?? "newest"] = true
        for sort in ["newest"] + Self.sorts {
            let items = search.items(sort: sort == "newest" ? nil : sort, key: search.key)
            links[sort] = "\(path)\(URLText.query(items))"
        }
        // Some sort orders use an index that does not contain every notification, and the page says so.
        let note = search.sort.flatMap { request.texts.text("notifications.only.\($0)") }
        return [
            "app": request.app, "sorted": sorted, "sort": links, "hasRows": !list.entries.isEmpty,
            "only": note ?? false,
            "keyName": list.entries.first?.notification.key?.name ?? search.key ?? "",
            "rows": list.entries.map { response -> PageModel in
                var row = NotificationSummary(response, request).model
                if let key = response.notification.key {
                    let items = search.items(sort: search.sort, key: "\(key.id)")
                    row["by"] = ["name": key.name, "path": "\(path)\(URLText.query(items))"]
                }
                return row
            },
        ]
    }

    private static func path(_ request: PageRequest) -> String { "\(Dashboard.root)\(request.appPath)/notifications" }

    private static func isRunning(_ response: NotificationResponse) -> Bool {
        [.accepted, .sending].contains(response.notification.state)
    }
}
