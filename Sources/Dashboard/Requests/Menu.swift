import Foundation
import HummingbirdCore
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The navigation of the dashboard: only what the caller's scopes allow.
struct Menu {
    /// An entry.
    private struct Item {
        let name: String
        let path: String
        var scope = APIScope.read
        /// Indicates whether those see it who may use all apps.
        var isOfServer = false
    }

    private let request: PageRequest

    init(_ request: PageRequest) {
        self.request = request
    }

    /// The values of the layout's variable `menu`.
    var model: [PageModel] {
        var groups = [self.group(nil, Self.top)]
        if let app = self.app {
            let items = Self.ofApp.map {
                Item(name: $0.name, path: "/apps/\(FormText.encoded(app))\($0.path)", scope: $0.scope)
            }
            groups.append(self.group(app, items))
        }
        groups.append(self.group(self.request.texts["menu.server"], Self.server))
        return groups.filter { !($0["items"] as? [PageModel] ?? []).isEmpty }
    }

    /// The app of the page; `nil` on a page of all apps.
    private var app: String? {
        let app = self.request.parameter("app")
        return app.isEmpty ? nil : app
    }

    private func group(_ heading: String?, _ items: [Item]) -> PageModel {
        var group: PageModel = [
            "items": items.filter(self.isVisible).map { item -> PageModel in
                [
                    "path": "\(Dashboard.root)\(item.path)", "label": self.request.texts["menu.\(item.name)"],
                    "current": self.isCurrent(item),
                ]
            }
        ]
        group["heading"] = heading
        return group
    }

    private func isVisible(_ item: Item) -> Bool {
        self.request.may(item.scope) && (!item.isOfServer || self.request.session.caller.apps == nil)
    }

    private func isCurrent(_ item: Item) -> Bool {
        let path = self.request.http.uri.path.dropFirst(Dashboard.root.count)
        if item.name == "app" || item.path.isEmpty { return path == item.path }
        return path == item.path || path.hasPrefix("\(item.path)/")
    }

    private static let top = [Item(name: "overview", path: "")]

    private static let ofApp = [
        Item(name: "app", path: ""), Item(name: "notifications", path: "/notifications"),
        Item(name: "audiences", path: "/audiences"), Item(name: "templates", path: "/templates"),
        Item(name: "schedules", path: "/schedules"), Item(name: "publishing", path: "/publishing"),
        Item(name: "devices", path: "/devices"),
        Item(name: "tokens", path: "/tokens"), Item(name: "credentials", path: "/credentials"),
        Item(name: "webhooks", path: "/webhooks", scope: .operate), Item(name: "appSettings", path: "/settings"),
    ]

    private static let server = [
        Item(name: "keys", path: "/keys", scope: .admin, isOfServer: true),
        Item(name: "people", path: "/people", scope: .admin, isOfServer: true),
        Item(name: "audit", path: "/audit", scope: .admin, isOfServer: true),
        Item(name: "system", path: "/system", isOfServer: true),
    ]
}
