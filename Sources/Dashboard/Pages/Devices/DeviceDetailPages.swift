import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes
import WebPages

/// The page of one device token, with the devices that have the token, their history, and a form that sends a test
/// notification.
struct DeviceDetailPages: PageArea {
    /// The maximum time, in seconds, for which a test notification waits for the push service's response. After that,
    /// the timeline is shown without the response.
    private static let wait = 8

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/devices/{token}", { try await self.page($0) }),
            .post("/apps/{app}/devices/{token}/test", self.test),
            .post("/apps/{app}/devices/{token}/activate", self.activate),
            .post("/apps/{app}/devices/{token}/remove", self.remove),
        ]
    }

    private func page(_ request: PageRequest, error: RequestError? = nil) async throws -> Response {
        let token = request.parameter("token")
        let path = "\(request.appPath)/devices/\(URLText.encoded(token))"
        let query = URLText.query(["limit": "20", "cursor": request.query("cursor")])
        let history = try await self.history(query, request)
        var model: PageModel = [
            "token": token, "path": "\(Dashboard.root)\(path)", "may": request.permissions,
            "devices": history.devices.map { self.facts($0, request) },
            "history": try await HistoryModel.model(history, request, path: path),
        ]
        model["isKnown"] = !history.devices.isEmpty
        return request.page("device", title: DeviceModel.short(token), model, error: error)
    }

    private func history(_ query: String, _ request: PageRequest) async throws -> HistoryResponse {
        let path = "\(request.api)/devices/\(URLText.encoded(request.parameter("token")))/history\(query)"
        return try await request.get(path, as: HistoryResponse.self)
    }

    private func facts(_ response: DeviceResponse, _ request: PageRequest) -> PageModel {
        let (device, profile) = (response.device, response.device.profile)
        var model = DeviceModel.row(response, request)
        model["attributeList"] = profile.attributes.sorted { $0.key < $1.key }.map { name, value -> PageModel in
            ["name": name, "value": PageValue.of(value) ?? ""]
        }
        model["isInactive"] = !device.isActive
        model["preferenceText"] = PreferencesModel.of(profile.preferences, request.texts)
        return model
    }

    /// Sends a test notification to this token only, and redirects to the timeline of the delivery.
    private func test(_ request: PageRequest) async throws -> Response {
        let body: JSONValue = .object([
            "name": .string("Test from the dashboard"),
            "to": .object(["tokens": .array([.string(request.parameter("token"))])]),
            "environment": .string(request.form["environment"] ?? "production"), "urgent": .bool(true),
            "expiresIn": .string("10m"),
            "alert": .object([
                "title": .string(request.texts["devices.testTitle"]),
                "body": .string(request.texts["devices.testBody", ["name": request.session.caller.name]]),
            ]),
        ])
        do {
            let path = "\(request.api)/notifications?wait=\(Self.wait)"
            let sent = try await request.call(.post(path, body), as: NotificationResponse.self)
            guard let apnsID = sent.outcomes?.first?.apnsID else {
                return request.redirect(to: "\(request.appPath)/devices/\(request.parameter("token"))", done: "sent")
            }
            return request.redirect(to: "\(request.appPath)/deliveries/\(URLText.encoded(apnsID))")
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    /// Reactivates an inactive device by registering it again, as its app would.
    private func activate(_ request: PageRequest) async throws -> Response {
        try request.require(.register)
        let environment = request.form["environment"] ?? "production"
        let devices = try await self.history("?limit=1", request).devices.map(\.device)
        guard let device = devices.first(where: { $0.environment.rawValue == environment }) else {
            throw RequestError.noSuch("device", by: "token")
        }
        return try await self.change(request, done: "activated") { token in
            .post(
                "\(request.api)/devices",
                .object(["token": .string(token), "environment": .string(environment), "kind": device.kind.json])
            )
        }
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "removed") { token in
            let environment = URLText.query(["environment": request.form["environment"]])
            return .delete("\(request.api)/devices/\(URLText.encoded(token))\(environment)")
        }
    }

    private func change(_ request: PageRequest, done: String, _ call: (String) -> LocalAPIRequest) async throws
        -> Response
    {
        do {
            _ = try await request.call(call(request.parameter("token")))
            return request.redirect(to: "\(request.appPath)/devices/\(request.parameter("token"))", done: done)
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }
}

/// Describes the preferences of a user or a device.
enum PreferencesModel {
    /// Returns the opt-outs and the quiet hours, or `false` if there are none, so that templates omit their section.
    static func of(_ preferences: Preferences, _ texts: LocalizedTexts) -> Any {
        var lines = preferences.optOuts.sorted().map { texts["devices.optedOut", ["category": $0.text]] }
        if let hours = preferences.quietHours {
            lines.append(texts["devices.quiet", ["from": "\(hours.from)", "to": "\(hours.to)"]])
        }
        return lines.isEmpty ? false : lines.joined(separator: " ")
    }
}
