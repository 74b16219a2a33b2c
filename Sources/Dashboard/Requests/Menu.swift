import HummingbirdCore
import ProviderModel
import PushProvider
import PushSupport
import WebPages

/// The navigation menu of the dashboard, with the entries that the caller's scopes allow.
struct Menu {
    private let request: PageRequest

    init(_ request: PageRequest) { self.request = request }

    /// The template variable `menu` of the layout: the groups of entries that the caller may see.
    var model: [PageModel] {
        let app = self.request.app
        var groups = [self.group(.top, nil)]
        // A page that belongs to no app has no menu entries for an app.
        if !app.isEmpty { groups.append(self.group(.app, app, root: PageRequest.appPath(app))) }
        groups.append(self.group(.server, self.request.texts["menu.server"]))
        return groups.filter { !($0["items"] as? [PageModel] ?? []).isEmpty }
    }

    private func group(_ group: MenuEntry.Group, _ heading: String?, root: String = "") -> PageModel {
        let entries = self.request.visitor.renderer.menu.filter { $0.group == group && self.isVisible($0) }
        var model: PageModel = [
            "items": entries.map { entry -> PageModel in
                let path = "\(root)\(entry.path)"
                return [
                    "path": "\(Dashboard.root)\(path)", "label": self.request.texts["menu.\(entry.name)"],
                    "current": self.isCurrent(path, isExact: entry.path.isEmpty),
                ]
            }
        ]
        model["heading"] = heading
        return model
    }

    private func isVisible(_ entry: MenuEntry) -> Bool {
        self.request.may(entry.scope) && (entry.group != .server || self.request.session.caller.apps == nil)
    }

    /// Returns whether the current page belongs to the menu entry with a path.
    /// - Parameter isExact: Pass `true` if only the path itself belongs to the entry. Otherwise, paths below it do too.
    private func isCurrent(_ path: String, isExact: Bool) -> Bool {
        let shown = self.request.http.uri.path.dropFirst(Dashboard.root.count)
        return shown == path || !isExact && shown.hasPrefix("\(path)/")
    }
}

struct MenuEntry: Sendable {
    /// The group of the navigation menu to which an entry belongs.
    enum Group: Sendable {
        case top, app
        /// The group of pages about the server, for callers that may use all apps.
        case server
    }

    let group: Group
    /// The name of the entry, by which its label is found below `menu` in the localized texts.
    let name: String
    /// The path of the page below ``Dashboard/root`` or, in the group `app`, below the path of the app.
    let path: String
    /// The scope that a caller must have to see the entry.
    let scope: APIScope

    /// Creates an entry. A `path` of `nil` stands for the name with a leading slash.
    init(_ group: Group, _ name: String, path: String? = nil, scope: APIScope = .read) {
        (self.group, self.name, self.path, self.scope) = (group, name, path ?? "/\(name)", scope)
    }
}
