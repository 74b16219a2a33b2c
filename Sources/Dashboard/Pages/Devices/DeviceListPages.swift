import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The page with the list of an app's devices and a search form.
struct DeviceListPages: PageArea {
    private static let ways = ["user", "token", "installation", "tag"]
    /// The sort orders of the list, which are chosen in the column headers.
    private static let sorts = ["token", "user", "lastSeen"]

    private struct Search {
        let text, state, sort: String?
        let by: String

        init(_ request: PageRequest) {
            (self.text, self.by) = (request.query("q"), request.query("by") ?? "user")
            self.state = request.query("state")
            self.sort = request.query("sort").flatMap { DeviceListPages.sorts.contains($0) ? $0 : nil }
        }

        func items(sort: String?) -> KeyValuePairs<String, String?> {
            ["q": self.text, "by": self.text == nil ? nil : self.by, "state": self.state, "sort": sort]
        }

        func query(cursor: String?) -> String {
            func text(_ way: String) -> String? { self.by == way ? self.text : nil }
            return URLText.query([
                "token": text("token"), "installation": text("installation"), "tag": text("tag"), "state": self.state,
                "sort": self.sort, "cursor": cursor, "limit": "50",
            ])
        }
    }

    var routes: [PageRoute] { [.get("/apps/{app}/devices", self.list)] }
    var menuEntry: MenuEntry? { MenuEntry(.app, "devices") }

    /// Lists devices. A search for a user or a whole token redirects to the page of the user or device.
    private func list(_ request: PageRequest) async throws -> Response {
        let search = Search(request)
        if let text = search.text {
            if search.by == "user" { return request.redirect(to: "\(request.appPath)/users/\(URLText.encoded(text))") }
            if search.by == "token", text.utf8.count >= 64, DeviceToken(hex: text) != nil {
                return request.redirect(to: "\(request.appPath)/devices/\(URLText.encoded(text))")
            }
        }
        var model = self.form(search, request)
        do {
            let query = search.query(cursor: request.query("cursor"))
            let found = try await request.list("\(request.api)/devices\(query)", of: DeviceResponse.self)
            model["devices"] = found.entries.map { DeviceModel.row($0, request) }
            let path = "\(request.appPath)/devices"
            model["pager"] = request.pager(found.next, path: path, search.items(sort: search.sort))
            return request.page("devices", title: "devices.title", model)
        } catch let error as RequestError where error.kind == .invalid {
            model["problems"] = ["q": error.message]
            return request.page("devices", title: "devices.title", model, error: error, status: .ok)
        }
    }

    /// Returns the template variables for the search form and for the links in the column headers, with an empty list
    /// of devices.
    private func form(_ search: Search, _ request: PageRequest) -> PageModel {
        let path = "\(Dashboard.root)\(request.appPath)/devices"
        var (sorted, links): (PageModel, PageModel) = ([:], [:])
        if let sort = search.sort { sorted[sort] = true }
        for sort in Self.sorts { links[sort] = "\(path)\(URLText.query(search.items(sort: sort)))" }
        return [
            "q": search.text ?? "", "action": path, "app": request.app, "sorted": sorted, "sort": links,
            "isSearch": search.text != nil || search.state != nil, "devices": [PageModel](),
            "ways": Self.ways.map { way -> PageModel in
                ["value": way, "label": request.texts["devices.by.\(way)"], "chosen": way == search.by]
            },
            "states": ["", "active", "inactive"].map { state -> PageModel in
                let label = request.texts[state.isEmpty ? "devices.anyState" : "states.\(state)"]
                return ["value": state, "label": label, "chosen": state == search.state ?? ""]
            },
        ]
    }
}

enum DeviceModel {
    static func row(_ response: DeviceResponse, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(response)
        let token = response.device.token.hex
        model["path"] = "\(Dashboard.root)\(request.appPath)/devices/\(token)"
        model["shortToken"] = Self.short(token)
        model["stateLabel"] = StateLabel.model(response.state, request.texts)
        if let user = response.device.profile.user {
            model["userPath"] = "\(Dashboard.root)\(request.appPath)/users/\(URLText.encoded(user))"
        }
        for name in ["user", "appVersion", "locale", "installation", "timeZone", "activity"] where model[name] == nil {
            model[name] = false
        }
        return model
    }

    /// Returns a token abbreviated to its first 8 and last 6 digits. A token of at most 16 digits is not abbreviated.
    static func short(_ token: String) -> String { token.count > 16 ? "\(token.prefix(8))…\(token.suffix(6))" : token }
}
