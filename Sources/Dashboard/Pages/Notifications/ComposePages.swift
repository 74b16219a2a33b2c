import Foundation
import HTTPTypes
import Hummingbird
import ProviderAPI
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The form with which a notification or a schedule is written, its preview, and the question before a campaign.
struct ComposePages: PageArea {

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/notifications/new", self.show), .post("/apps/{app}/notifications/new", self.submit),
            .post("/apps/{app}/notifications/preview", self.preview),
            .get("/apps/{app}/schedules/{schedule}/edit", self.show),
            .post("/apps/{app}/schedules/{schedule}/edit", self.submit),
            .post("/apps/{app}/schedules/{schedule}/preview", self.preview),
        ]
    }

    // MARK: Requests

    private func show(_ request: PageRequest) async throws -> Response {
        try request.require(.send)
        var form = try await self.start(request)
        let isFilled = !form["body"].isEmpty || !form["title"].isEmpty || !form["more"].isEmpty
        self.fillDefaults(&form, now: request.interface.time.now)
        return try await self.page(form, request, isFilled: isFilled)
    }

    private func submit(_ request: PageRequest) async throws -> Response {
        var form = ComposeForm(request.form)
        let action = request.form["action"] ?? ""
        if form.change(by: action) { return try await self.page(form, request) }
        do {
            switch action {
            case "edit": return try await self.page(form, request)
            case "preview": return try await self.page(form, request, preview: await self.previewed(form, request))
            case "confirmed": return try await self.send(form, request)
            default: return try await self.ask(form, request)
            }
        } catch let error as RequestError {
            return try await self.page(form, request, error: error)
        }
    }

    private func preview(_ request: PageRequest) async throws -> Response {
        let form = ComposeForm(request.form)
        return request.fragment("push-preview", try await self.previewed(form, request))
    }

    // MARK: Steps

    /// Sends a notification to one user at once; asks about everything else, with the figure of recipients.
    private func ask(_ form: ComposeForm, _ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let body = try form.request()
        if self.isRecurring(form, request) {
            let runs = try await self.runs(form, request)
            let preview = try await request.call(.post("\(request.api)/notifications:preview", body))
            return self.question(form, request, preview, runs: runs)
        }
        if form.isForOneUser { return try await self.send(form, request) }
        let preview = try await request.call(.post("\(request.api)/notifications:preview", body))
        return self.question(form, request, preview, runs: [])
    }

    private func send(_ form: ComposeForm, _ request: PageRequest) async throws -> Response {
        let body = try form.request()
        let app = request.parameter("app")
        if self.isRecurring(form, request) {
            let name = form.given("name") ?? body["name"].stringValue ?? ""
            let schedule = JSONValue.members([
                "name": .string(name), "schedule": self.rule(form), "notification": body,
            ])
            let id = request.parameter("schedule")
            let call: APICall =
                id.isEmpty
                ? .post("\(request.api)/schedules", schedule) : .put("/v1/schedules/\(FormText.encoded(id))", schedule)
            let saved = try await request.call(call)
            return request.redirect(to: "/apps/\(app)/schedules/\(saved["id"].stringValue ?? "")", done: "saved")
        }
        var call = APICall.post("\(request.api)/notifications", body)
        if let name = HTTPField.Name("idempotency-key") { call.headers[name] = self.key(request) }
        let sent = try await request.call(call)
        let isLater = sent["state"] == .string("scheduled")
        return request.redirect(
            to: "/apps/\(app)/notifications/\(sent["id"].stringValue ?? "")",
            done: isLater ? "scheduled" : "sent"
        )
    }

    /// Returns what a device would show; errors are a part of it.
    private func previewed(_ form: ComposeForm, _ request: PageRequest) async throws -> PageModel {
        do {
            var body = try form.request()
            let isUnnamed = body["to"] == .null
            if isUnnamed { body = body.merging(.object(["to": .object(["all": .bool(true)])])) }
            body = body.merging(.object(form.previewSubject))
            let response = try await request.call(.post("\(request.api)/notifications:preview", body))
            let runs = self.isRecurring(form, request) ? try await self.runs(form, request) : []
            return PushPreview(response, texts: request.texts, hasAudience: !isUnnamed).values(runs: runs)
        } catch let error as RequestError {
            return PushPreview(error).values()
        }
    }

    // MARK: Schedules

    private func isRecurring(_ form: ComposeForm, _ request: PageRequest) -> Bool {
        form["when"] == "recurring" || !request.parameter("schedule").isEmpty
    }

    private func rule(_ form: ComposeForm) -> JSONValue {
        .members([
            "cron": .string(CronPlan(form).expression), "timeZone": .string(form.given("zone") ?? "UTC"),
        ])
    }

    private func runs(_ form: ComposeForm, _ request: PageRequest) async throws -> [JSONValue] {
        let rule = JSONValue.object(["schedule": self.rule(form)])
        return try await request.call(.post("\(request.api)/schedules:preview?count=5", rule))["times"].elements
    }

    // MARK: Pages

    /// Returns the form as the page begins with it: empty, or that of a schedule, a template or an earlier notification.
    private func start(_ request: PageRequest) async throws -> ComposeForm {
        let schedule = request.parameter("schedule")
        if !schedule.isEmpty {
            let stored = try await request.get("/v1/schedules/\(FormText.encoded(schedule))")
            var form = ComposeForm(request: stored["notification"])
            form["name"] = stored["name"].stringValue ?? ""
            CronPlan(cron: stored["schedule"]["cron"].stringValue ?? "").fill(&form)
            (form["when"], form["zone"]) = ("recurring", stored["schedule"]["timeZone"].stringValue ?? "")
            return form
        }
        var form = ComposeForm()
        if let id = request.query("from") {
            form = ComposeForm(sent: try await request.get("/v1/notifications/\(FormText.encoded(id))"))
        } else if let name = request.query("template") {
            let template = try await request.get("\(request.api)/templates/\(FormText.encoded(name))")
            form = ComposeForm(request: template["content"])
        }
        for kind in ["tag", "user", "named"] {
            if let value = request.query(kind) { (form["audience"], form[kind]) = (kind, value) }
        }
        form["when"] = request.query("when") ?? form["when"]
        return form
    }

    private func fillDefaults(_ form: inout ComposeForm, now: Timestamp) {
        let tomorrow = now.advanced(by: .seconds(86_400)).rfc3339.prefix(10)
        let defaults = [
            "audience": "tag", "when": "now", "at": "\(tomorrow)T09:00", "frequency": "daily", "time": "09:00",
            "weekday": "mon", "monthday": "1",
        ]
        for (name, value) in defaults where form[name].isEmpty { form[name] = value }
    }

    private func page(
        _ form: ComposeForm,
        _ request: PageRequest,
        isFilled: Bool = true,
        preview: PageModel? = nil,
        error: RequestError? = nil
    ) async throws -> Response {
        let problems = ComposeProblems.model(error, form)
        let model = ComposeModel(form: form, texts: request.texts, problems: problems)
        let isSchedule = !request.parameter("schedule").isEmpty
        var values: PageModel = [
            "content": model.content, "subject": model.preview, "isFilled": isFilled,
            "sending": model.sending(named: try await request.audienceNames(), isSchedule: isSchedule),
            "action": request.http.uri.path,
            "previewPath": request.http.uri.path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
                + "/preview",
            "key": error?.code == "idempotency_conflict" ? UUID().uuidString : self.key(request),
        ]
        values["preview"] = preview
        let title = isSchedule ? "schedules.edit" : form["when"] == "recurring" ? "schedules.new" : "compose.heading"
        return request.page("compose", title: title, values, error: error)
    }

    /// Returns the page that asks, with all that was typed in hidden fields.
    private func question(
        _ form: ComposeForm,
        _ request: PageRequest,
        _ preview: JSONValue,
        runs: [JSONValue]
    ) -> Response {
        let count = preview["recipients"].numberValue.map { request.format.number($0) }
        let kind = self.isRecurring(form, request) ? "schedule" : form["when"] == "now" ? "now" : "later"
        let figure = count ?? request.texts["push.unknown"]
        var values = PushPreview(preview, texts: request.texts).values(runs: runs)
        values["question"] = request.texts["compose.ask.\(kind)", ["count": figure]]
        values["button"] = request.texts["compose.send.\(kind)", ["count": figure]]
        values["isNobody"] = preview["recipients"] == .integer(0)
        values["hidden"] = form.hidden.map { ["name": $0.name, "value": $0.value] as PageModel }
        values["action"] = request.http.uri.path
        values["key"] = self.key(request)
        values["facts"] = self.facts(form, request)
        return request.page("compose-confirm", title: "compose.ask.title", values)
    }

    /// Returns what was chosen, line by line.
    private func facts(_ form: ComposeForm, _ request: PageRequest) -> [PageModel] {
        let texts = request.texts
        let environment = form["environment"].isEmpty ? "none" : form["environment"]
        let audience = (try? form.audienceMember()).map { $0.line } ?? ""
        var time = form["at"].replacingOccurrences(of: "T", with: " ")
        if form["when"] == "at" { time += " \(form.given("zone") ?? "UTC")" }
        let cron = "\(CronPlan(form).words(texts)), \(form.given("zone") ?? "UTC")"
        let when = self.isRecurring(form, request) ? "recurring" : form["when"]
        let times = ["at": time, "local": "\(time) · \(texts["compose.whenOptions.local"])", "recurring": cron]
        return [
            ("audience", audience), ("environment", texts["compose.environmentOptions.\(environment)"]),
            ("when", times[when] ?? texts["compose.whenOptions.now"]),
        ].map { ["name": texts["compose.\($0)"], "value": $1] }
    }

    /// Returns the idempotency key of the form, so that it is sent once however often it is posted.
    private func key(_ request: PageRequest) -> String {
        let key = request.form["key"] ?? ""
        let isPlain = (1...200).contains(key.utf8.count) && key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        return isPlain ? key : UUID().uuidString
    }
}
