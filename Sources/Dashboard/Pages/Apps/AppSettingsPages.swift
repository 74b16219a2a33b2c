import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The page of an app's settings, on which the app can also be stopped and erased.
struct AppSettingsPages: FormArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}/settings", { try await self.page($0, error: nil) }),
            self.form("/apps/{app}/settings", scope: .admin, self.save),
            self.form("/apps/{app}/pause", self.pause),
            self.form("/apps/{app}/resume", self.resume),
            self.form("/apps/{app}/erase", scope: .admin, self.erase),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "appSettings", path: "/settings") }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let app = try await request.get(request.api, as: AppResponse.self)
        let path = "\(request.api)/notifications?state=sending&limit=100"
        let sending = try await request.list(path, of: NotificationResponse.self).entries
        let model: PageModel = [
            "app": PageValue.members(app), "isPaused": app.stop.isStopped,
            "appHome": "\(Dashboard.root)\(request.appPath)", "may": request.permissions,
            "fields": FormModel.fields("settings", self.fields(app.app, request), error: error, names: Self.names),
            "running": request.texts["apps.running", ["count": "\(sending.count)"]],
            "problems": FieldErrors.model(error), "bundleId": request.app,
            "was": InitialFormValues.value(Self.stored(app), request),
            "reasonMaximum": AppRequest.stop["reason"].maximumLength.map { "\($0)" } ?? false,
        ]
        return request.page("app-settings", title: "apps.settings", model, error: error)
    }

    private static let names = ["cap.count": "capCount", "cap.window": "capWindow"]

    /// Returns the fields of the form. They show the posted values if there are any, and otherwise the stored ones.
    private func fields(_ app: AppRecord, _ request: PageRequest) -> [FormField] {
        let form = request.form
        let make = MemberFields(texts: request.texts, area: "apps", list: AppRequest.change)
        func typed(_ name: String, _ value: String?) -> String {
            (form.fields.contains { $0.name == name } ? form[name] : value) ?? ""
        }
        func lines(_ name: String, label: String, _ patterns: NamePatterns) -> FormField {
            let value = form[name] ?? patterns.texts.joined(separator: "\n")
            return make.field(name, .area, label: label, value: value, hint: "patternHint")
        }
        let (number, window) = (FormField.Control.line(type: "number"), app.cap.map { DurationText.text($0.window) })
        let capCount = typed("capCount", app.cap.map { "\($0.count)" })
        let receipts = FormField.Control.choice(make.options("receipts", "receiptLevels"))
        return [
            make.field("name", value: typed("name", app.name)),
            make.field("rate", number, value: typed("rate", app.rate.map { "\($0)" })),
            make.field("capCount", at: "cap.count", number, value: capCount, hint: "capHint"),
            make.field("capWindow", at: "cap.window", value: typed("capWindow", window)),
            make.field("receipts", receipts, value: typed("receipts", app.receipts.word)),
            lines("installationTags", label: "tags", app.installationTags),
            lines("installationAttributes", label: "attributes", app.installationAttributes),
        ]
    }

    private static func stored(_ app: AppResponse) -> [String: JSONValue] {
        let names = ["name", "rate", "cap", "receipts", "installationTags", "installationAttributes"]
        let json = app.json
        return Dictionary(uniqueKeysWithValues: names.map { ($0, json[$0]) })
    }

    private func save(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "saved", then: "settings") {
            let (form, list) = (request.form, AppRequest.change)
            func lines(_ name: String) -> JSONValue {
                let lines = (form[name] ?? "").split(whereSeparator: \.isNewline).map(String.init)
                return .array(lines.filter { !$0.isEmpty }.map(JSONValue.string))
            }
            let count = try form.number("capCount", of: list["cap.count"])
            let window = try form.text("capWindow", of: list["cap.window"])
            let cap = JSONValue.members(["count": count.map(JSONValue.integer), "window": window.map(JSONValue.string)])
            let wanted: [String: JSONValue] = [
                "name": try form.text("name", of: list["name"]).map(JSONValue.string) ?? .null,
                "rate": try form.number("rate", of: list["rate"]).map(JSONValue.integer) ?? .null,
                "cap": count == nil && window == nil ? .null : cap,
                "receipts": .string(form["receipts"] ?? "none"),
                "installationTags": lines("installationTags"),
                "installationAttributes": lines("installationAttributes"),
            ]
            let changes = InitialFormValues.changes(wanted, form)
            return changes.isEmpty ? nil : .patch("\(request.api)", .object(changes))
        }
    }

    private func pause(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "appPaused", then: "") {
            let reason = try request.form.text("reason", of: AppRequest.stop["reason"])
            return .post("\(request.api):pause", .members(["reason": reason.map(JSONValue.string)]))
        }
    }

    private func resume(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "appResumed", then: "") { .post("\(request.api):resume") }
    }

    /// Performs a change, and redirects to the page `page` of the app with the notice `done`.
    /// - Parameter call: A closure that returns the request, or `nil` if there is nothing to change.
    private func change(
        _ request: PageRequest,
        done: String,
        then page: String,
        _ call: () throws -> LocalAPIRequest?
    ) async throws -> Response {
        var answer = JSONValue.null
        if let call = try call() { answer = try await request.call(call) }
        let path = page.isEmpty ? request.appPath : "\(request.appPath)/\(page)"
        return request.redirect(to: path, done: done, after: answer)
    }

    /// Returns the name of the notice after an erasure, which states whether it is complete or still in progress.
    static func notice(ofErasure answer: JSONValue) -> String {
        answer["state"].stringValue == "erasing" ? "appErasing" : "appErased"
    }

    /// Erases the app, but only if its bundle id was entered as a confirmation.
    private func erase(_ request: PageRequest) async throws -> Response {
        guard request.form["confirm"] == request.app else {
            let message = request.texts["apps.typeBundleId", ["app": request.app]]
            throw PageError.notConfirmed.error(message, field: "confirm")
        }
        let answer = try await request.call(.delete("\(request.api)"))
        return request.redirect(to: "", done: Self.notice(ofErasure: answer), after: answer)
    }
}
