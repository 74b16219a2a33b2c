import Foundation
import HTTPTypes
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The pages on which a notification or a schedule is composed: the form, its preview, and the confirmation before a
/// notification to many recipients is sent.
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
        let (begun, stored) = try await self.start(request)
        var form = begun
        let isFilled = !form["body"].isEmpty || !form["title"].isEmpty || !form["more"].isEmpty
        self.fillDefaults(&form, now: request.interface.time.now)
        return try await self.page(form, request, stored: stored, isFilled: isFilled)
    }

    private func submit(_ request: PageRequest) async throws -> Response {
        var form = ComposeForm(request.form)
        let action = request.form["action"] ?? ""
        if form.change(by: action) { return try await self.page(form, request) }
        do {
            switch action {
            case "edit": return try await self.page(form, request)
            case "preview": return try await self.page(form, request, preview: await self.previewed(form, request))
            case "confirmed": return try await self.send(self.wanted(form, request, isChecked: true), request)
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

    /// Sends a notification for a single user immediately. For any other audience, shows the number of recipients and
    /// requests a confirmation.
    private func ask(_ form: ComposeForm, _ request: PageRequest) async throws -> Response {
        try request.require(.send)
        let wanted = try await self.wanted(form, request, isChecked: true)
        if wanted.rule == nil, wanted.isForOneUser { return try await self.send(wanted, request) }
        let runs = try await self.runs(wanted, request)
        let call = LocalAPIRequest.post("\(request.api)/notifications:preview", wanted.notification)
        let preview = try await request.call(call, as: PreviewResponse.self)
        return self.question(form, wanted, request, preview, runs: runs)
    }

    private func send(_ wanted: ComposeRequest, _ request: PageRequest) async throws -> Response {
        let app = request.parameter("app")
        if let schedule = wanted.schedule {
            let id = request.parameter("schedule")
            let call: LocalAPIRequest =
                id.isEmpty
                ? .post("\(request.api)/schedules", schedule) : .put("/v1/schedules/\(URLText.encoded(id))", schedule)
            let saved = try await request.call(call, as: ScheduleResponse.self).schedule
            return request.redirect(to: "/apps/\(app)/schedules/\(saved.id)", done: "saved")
        }
        var call = LocalAPIRequest.post("\(request.api)/notifications", wanted.notification)
        if let name = HTTPField.Name("idempotency-key") { call.headers[name] = self.key(request) }
        let sent = try await request.call(call, as: NotificationResponse.self).notification
        let done = sent.state == .scheduled ? "scheduled" : "sent"
        return request.redirect(to: "/apps/\(app)/notifications/\(sent.id)", done: done)
    }

    private func previewed(_ form: ComposeForm, _ request: PageRequest) async throws -> PageModel {
        do {
            let wanted = try await self.wanted(form, request)
            var body = wanted.notification
            let isUnnamed = body["to"] == .null
            if isUnnamed { body = body.merging(.object(["to": .object(["all": .bool(true)])])) }
            body = body.merging(.object(form.previewSubject))
            let call = LocalAPIRequest.post("\(request.api)/notifications:preview", body)
            let response = try await request.call(call, as: PreviewResponse.self)
            let runs = try await self.runs(wanted, request)
            return PushPreview(response, texts: request.texts, hasAudience: !isUnnamed).values(runs: runs)
        } catch let error as RequestError {
            return PushPreview(error).values()
        }
    }

    // MARK: Schedules

    private func isRecurring(_ form: ComposeForm, _ request: PageRequest) -> Bool {
        form["when"] == "recurring" || !request.parameter("schedule").isEmpty
    }

    /// Returns the request that the form describes.
    /// - Parameter isChecked: Pass `true` to check that the schedule in the path is unchanged since the form was shown.
    /// - Throws: ``RequestError`` for JSON that cannot be parsed, or for a schedule that has changed.
    private func wanted(
        _ form: ComposeForm,
        _ request: PageRequest,
        isChecked: Bool = false
    ) async throws -> ComposeRequest {
        let isChange = !request.parameter("schedule").isEmpty
        let stored = isChange ? try await request.schedule() : nil
        if isChecked, let stored { try ScheduleFingerprint.check(stored, request) }
        return try ComposeRequest(form, isRecurring: self.isRecurring(form, request), stored: stored?.json)
    }

    /// Returns the next runs of a schedule. The list is empty for a notification that is sent once.
    private func runs(_ wanted: ComposeRequest, _ request: PageRequest) async throws -> [String] {
        guard let rule = wanted.rule else { return [] }
        let call = LocalAPIRequest.post("\(request.api)/schedules:preview?count=5", .object(["schedule": rule]))
        return try await request.call(call, as: RunsResponse.self).times
    }

    // MARK: Pages

    /// Returns the initial form of the page: an empty one, or one that is filled from a schedule, a template or an
    /// earlier notification. The result also contains the schedule, or `nil` if there is none.
    private func start(_ request: PageRequest) async throws -> (form: ComposeForm, schedule: ScheduleResponse?) {
        if !request.parameter("schedule").isEmpty {
            let stored = try await request.schedule()
            let schedule = stored.schedule
            var form = ComposeForm(request: stored.notification)
            form["name"] = schedule.name
            CronPlan(cron: schedule.rule.cron.text).fill(&form)
            (form["when"], form["zone"]) = ("recurring", schedule.rule.timeZone.identifier)
            return (form, stored)
        }
        var form = ComposeForm()
        if let id = request.query("from") {
            let path = "/v1/notifications/\(URLText.encoded(id))"
            let sent = try await request.get(path, as: NotificationResponse.self)
            guard sent.app?.name == request.app else { throw RequestError.noSuch("notification") }
            form = ComposeForm(sent: sent.json)
        } else if let name = request.query("template") {
            let path = "\(request.api)/templates/\(URLText.encoded(name))"
            let template = try await request.get(path, as: TemplateResponse.self).record
            form = ComposeForm(request: .object(template.body))
        }
        for kind in ["tag", "user", "named"] {
            if let value = request.query(kind) { (form["audience"], form[kind]) = (kind, value) }
        }
        form["when"] = request.query("when") ?? form["when"]
        return (form, nil)
    }

    private func fillDefaults(_ form: inout ComposeForm, now: Timestamp) {
        let tomorrow = now.advanced(by: .seconds(86_400)).rfc3339.prefix(10)
        let defaults = [
            "audience": "tag", "when": "now", "at": "\(tomorrow)T09:00", "frequency": "daily", "time": "09:00",
            "weekday": "mon", "monthday": "1",
        ]
        for (name, value) in defaults where form[name].isEmpty { form[name] = value }
    }

    /// Returns the page with the form. `stored` is the schedule from which the form was filled for this page, or `nil`
    /// if there is none or the form was posted. Pass `false` for `isFilled` if the form is empty.
    private func page(
        _ form: ComposeForm,
        _ request: PageRequest,
        stored: ScheduleResponse? = nil,
        isFilled: Bool = true,
        preview: PageModel? = nil,
        error: RequestError? = nil
    ) async throws -> Response {
        let problems = ComposeFieldMapping.model(error, form)
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
        if isSchedule { values["fingerprint"] = try await ScheduleFingerprint.shown(stored, request, error) }
        let title = isSchedule ? "schedules.edit" : form["when"] == "recurring" ? "schedules.new" : "compose.heading"
        return request.page("compose", title: title, values, error: error)
    }

    private func question(
        _ form: ComposeForm,
        _ wanted: ComposeRequest,
        _ request: PageRequest,
        _ preview: PreviewResponse,
        runs: [String]
    ) -> Response {
        let count = preview.recipients.map { request.format.number(Double($0)) }
        let kind = wanted.rule != nil ? "schedule" : wanted.isLater ? "later" : "now"
        let figure = count ?? request.texts["push.unknown"]
        var values = PushPreview(preview, texts: request.texts).values(runs: runs)
        values["question"] = request.texts["compose.ask.\(kind)", ["count": figure]]
        values["button"] = request.texts["compose.send.\(kind)", ["count": figure]]
        values["isNobody"] = preview.recipients == 0
        values["hidden"] = form.hidden.map { ["name": $0.name, "value": $0.value] as PageModel }
        values["action"] = request.http.uri.path
        values["key"] = self.key(request)
        values["fingerprint"] = request.form["fingerprint"]
        values["facts"] = wanted.facts(request.texts).map { fact -> PageModel in
            ["name": request.texts["compose.\(fact.name)"], "value": fact.value]
        }
        return request.page("compose-confirm", title: "compose.ask.title", values)
    }

    /// Returns the idempotency key of the form, which ensures that the notification is sent only once, however often
    /// the form is posted.
    private func key(_ request: PageRequest) -> String {
        let key = request.form["key"] ?? ""
        let isPlain = (1...200).contains(key.utf8.count) && key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        return isPlain ? key : UUID().uuidString
    }
}
