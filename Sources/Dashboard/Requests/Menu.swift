import Foundation
import HummingbirdCore
import PushHTTP
import PushStore
import PushTypes
import WebPages

/// The navigation of the dashboard: only what the caller's scopes allow.
struct Menu {
    /// An entry.
    private struct Item {
        let name: String
        let path: String
        var scope = APIScope.read
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
            "items": items.filter { self.request.may($0.scope) }.map { item -> PageModel in
                [
                    "path": "\(Dashboard.root)\(item.path)", "label": self.request.texts["menu.\(item.name)"],
                    "current": self.isCurrent(item),
                ]
            }
        ]
        group["heading"] = heading
        return group
    }

    private func isCurrent(_ item: Item) -> Bool {
        let path = self.request.http.uri.path.dropFirst(Dashboard.root.count)
        return path == item.path || !item.path.isEmpty && path.hasPrefix("\(item.path)/")
    }

    private static let top = [Item(name: "overview", path: "")]

    private static let ofApp: [Item] = []

    private static let server: [Item] = []
}
