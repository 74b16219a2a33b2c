import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of one user of an app, with the user's devices, preferences, badge count and history.
struct UserPages: FormArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}/users/{user}", { try await self.page($0, error: nil) }),
            self.form("/apps/{app}/users/{user}/badge", self.setBadge),
            self.form("/apps/{app}/users/{user}/erase", scope: .admin, self.erase),
        ]
    }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let user = request.parameter("user")
        let path = "\(request.appPath)/users/\(URLText.encoded(user))"
        let api = "\(request.api)/users/\(URLText.encoded(user))"
        let query = URLText.query(["limit": "20", "cursor": request.query("cursor")])
        let history = try await request.get("\(api)/history\(query)", as: HistoryResponse.self)
        let preferences = try await request.get("\(api)/preferences", as: Preferences.self)
        let badge = try await request.call(.get("\(api)/badge"))
        var model: PageModel = [
            "user": user, "path": "\(Dashboard.root)\(path)", "may": request.permissions,
            "devices": history.devices.map { DeviceModel.row($0, request) },
            "preferenceText": PreferencesModel.of(preferences, request.texts),
            "badgeCount": PageValue.of(badge["count"]) ?? 0,
            "history": try await HistoryModel.model(history, request, path: path),
            "devicesPath": "\(Dashboard.root)\(request.appPath)/devices",
        ]
        // The most frequent causes of missing notifications are shown above the history.
        if history.devices.isEmpty {
            model["cause"] = request.texts["devices.causeNoDevice"]
        } else if history.devices.allSatisfy({ !$0.device.isActive }) {
            model["cause"] = request.texts["devices.causeInactive"]
        }
        model["problems"] = FieldErrors.model(error)
        model["badgeMaximum"] = BadgeRequest.object["count"].range.map { "\($0.upperBound)" } ?? false
        return request.page("user", title: user, model, error: error)
    }

    private func setBadge(_ request: PageRequest) async throws -> Response {
        let user = URLText.encoded(request.parameter("user"))
        let count = try request.form.number("count", of: BadgeRequest.object["count"]) ?? 0
        let path = "\(request.api)/users/\(user)/badge"
        _ = try await request.call(.put(path, .object(["count": .integer(count)])))
        return request.redirect(to: "\(request.appPath)/users/\(user)", done: "saved")
    }

    /// Returns the name of the notice after an erasure, which states whether it is complete or still in progress.
    static func notice(ofErasure answer: JSONValue) -> String {
        answer["state"].stringValue == "erasing" ? "erasing" : "erased"
    }

    /// Erases the user, but only if the user id was entered as a confirmation.
    private func erase(_ request: PageRequest) async throws -> Response {
        let user = request.parameter("user")
        guard request.form["confirm"] == user else {
            let message = request.texts["devices.typeUser", ["user": user]]
            throw PageError.notConfirmed.error(message, field: "confirm")
        }
        let answer = try await request.call(.delete("\(request.api)/users/\(URLText.encoded(user))"))
        let done = Self.notice(ofErasure: answer)
        return request.redirect(to: "\(request.appPath)/devices", done: done, after: answer)
    }
}
