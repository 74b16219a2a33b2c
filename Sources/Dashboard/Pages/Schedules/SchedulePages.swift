import Foundation
import Hummingbird
import ProviderAPI
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The schedules of an app, and what can be done with one. ``ComposePages`` has the form.
struct SchedulePages: PageArea {
    /// The schedules of a page.
    private static let count = 50

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/schedules", self.list), .get("/apps/{app}/schedules/calendar", self.calendar),
            .get("/apps/{app}/schedules/{schedule}", self.show),
            .get("/apps/{app}/schedules/{schedule}/live", self.live),
            .post("/apps/{app}/schedules/{schedule}/pause", { try await self.change("pause", $0) }),
            .post("/apps/{app}/schedules/{schedule}/resume", { try await self.change("resume", $0) }),
            .post("/apps/{app}/schedules/{schedule}/delete", self.delete),
        ]
    }

    // MARK: Pages

    private func list(_ request: PageRequest) async throws -> Response {
        let query = FormText.query(["cursor": request.query("cursor"), "limit": "\(Self.count)"])
        let list = try await request.get("\(request.api)/schedules\(query)")
        let path = Self.path(request)
        var model: PageModel = [
            "path": path, "app": request.parameter("app"), "maySend": request.may(.send),
            "new": "\(Dashboard.root)\(request.appPath)/notifications/new?when=recurring",
        ]
        model["rows"] = list["schedules"].elements.map { schedule -> PageModel in
            var row = Self.values(schedule, request)
            row["path"] = "\(path)/\(schedule["id"].stringValue ?? "")"
            return row
        }
        model["hasRows"] = !list["schedules"].elements.isEmpty
        var pager: PageModel = [:]
        if request.query("cursor") != nil { pager["first"] = path }
        if let next = list["next"].stringValue { pager["next"] = "\(path)?cursor=\(FormText.encoded(next))" }
        model["pager"] = pager.isEmpty ? nil : pager
        return request.page("schedules", title: "schedules.title", model)
    }

    private func show(_ request: PageRequest) async throws -> Response { try await self.page(request) }

    private func page(_ request: PageRequest, error: RequestError? = nil) async throws -> Response {
        let schedule = try await request.schedule()
        let path = "\(Self.path(request))/\(Self.id(request))"
        var model = Self.values(schedule, request)
        model["path"] = path
        model["maySend"] = request.may(.send)
        let runs = try await request.get("/v1/schedules/\(Self.id(request))/runs?count=10")
        model["runs"] = runs["times"].elements.compactMap { PageValue.of($0) }
        model["hasRuns"] = !runs["times"].elements.isEmpty
        model["audience"] = schedule["notification"]["to"].line
        let environment = schedule["notification"]["environment"].stringValue ?? "none"
        model["environment"] = request.texts["compose.environmentOptions.\(environment)"]
        model["preview"] = try await self.preview(schedule, request, countsRecipients: false)
        model["live"] = "\(path)/live"
        return request.page("schedule", title: schedule["name"].stringValue ?? "schedules.title", model, error: error)
    }

    /// Returns the preview with the number of recipients, which the page does not wait for.
    private func live(_ request: PageRequest) async throws -> Response {
        let schedule = try await request.schedule()
        return request.live { request in
            let preview = try await self.preview(schedule, request, countsRecipients: true)
            return .init(html: request.part("push-preview", preview), isFinal: true)
        }
    }

    /// Returns what a device would show of the next run; errors are a part of it.
    private func preview(_ schedule: JSONValue, _ request: PageRequest, countsRecipients: Bool) async throws
        -> PageModel
    {
        do {
            let path = "\(request.api)/notifications:preview\(countsRecipients ? "" : "?count=false")"
            let preview = try await request.call(.post(path, schedule["notification"]), isNoted: !countsRecipients)
            return PushPreview(preview, texts: request.texts, countsRecipients: countsRecipients).values()
        } catch let error as RequestError {
            return PushPreview(error).values()
        }
    }

    private func calendar(_ request: PageRequest) async throws -> Response {
        let now = Self.date(request.interface.time.now.milliseconds)
        // A name that is none stands for UTC, as a month that is none stands for the present one.
        let asked = request.query("zone") ?? ""
        let name = TimeZone(named: asked) == nil ? "UTC" : asked
        let grid = MonthGrid(request.query("month"), now: now, zone: TimeZone(named: name) ?? .gmt)
        let (from, to) = (
            Int64(grid.range.lowerBound.timeIntervalSince1970), Int64(grid.range.upperBound.timeIntervalSince1970)
        )
        let query = FormText.query(["from": "\(from)", "to": "\(to)"])
        let calendar = try await request.get("\(request.api)/schedules:calendar\(query)")
        let runs = Dictionary(grouping: calendar["runs"].elements) { run in
            grid.local(Self.date(run["atMs"].integerValue ?? 0)).day
        }
        let path = Self.path(request)
        let today = grid.local(now).day
        func month(_ month: String) -> String {
            "\(path)/calendar" + FormText.query(["month": month, "zone": name == "UTC" ? nil : name])
        }
        let model: PageModel = [
            "path": path, "calendar": "\(path)/calendar", "month": grid.month, "zone": name,
            "zones": try await Self.zones(request),
            "isIncomplete": calendar["complete"] == .bool(false),
            "previous": month(grid.previous), "next": month(grid.next),
            "days": ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].map {
                request.texts["compose.daysOptions.\($0)"]
            },
            "weeks": grid.weeks.map { week -> PageModel in
                ["days": week.map { Self.day($0, runs[$0] ?? [], grid: grid, today: today, path: path) }]
            },
        ]
        let title = request.texts["schedules.calendarOf", ["month": grid.month]]
        return request.page("schedules-calendar", title: title, model)
    }

    private static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// Returns the time zones of the app's schedules, of the first hundred.
    private static func zones(_ request: PageRequest) async throws -> [String] {
        let list = try await request.get("\(request.api)/schedules?limit=100")
        return Set(list["schedules"].elements.compactMap { $0["schedule"]["timeZone"].stringValue }).sorted()
    }

    /// The runs that a day of the calendar shows. It says how many more there are.
    private static let runsOfDay = 4

    private static func day(_ day: String, _ runs: [JSONValue], grid: MonthGrid, today: String, path: String)
        -> PageModel
    {
        var model: PageModel = [
            "day": day, "number": String(day.suffix(2)), "isOther": !day.hasPrefix(grid.month), "isToday": day == today,
            "hasRuns": !runs.isEmpty,
            "runs": runs.prefix(Self.runsOfDay).map { run -> PageModel in
                [
                    "time": grid.local(Self.date(run["atMs"].integerValue ?? 0)).time,
                    "at": run["at"].stringValue ?? "", "name": run["name"].stringValue ?? "",
                    "path": "\(path)/\(run["schedule"].stringValue ?? "")", "isPaused": run["paused"] == .bool(true),
                ]
            },
        ]
        if runs.count > Self.runsOfDay { model["more"] = "\(runs.count - Self.runsOfDay)" }
        return model
    }

    // MARK: Changes

    private func change(_ name: String, _ request: PageRequest) async throws -> Response {
        _ = try await request.schedule()
        _ = try await request.call(.post("/v1/schedules/\(Self.id(request)):\(name)"))
        return request.redirect(to: "\(request.appPath)/schedules/\(Self.id(request))", done: "schedule-\(name)")
    }

    private func delete(_ request: PageRequest) async throws -> Response {
        _ = try await request.schedule()
        _ = try await request.call(.delete("/v1/schedules/\(Self.id(request))"))
        return request.redirect(to: "\(request.appPath)/schedules", done: "removed")
    }

    // MARK: Values

    private static func id(_ request: PageRequest) -> String { FormText.encoded(request.parameter("schedule")) }

    private static func path(_ request: PageRequest) -> String { "\(Dashboard.root)\(request.appPath)/schedules" }

    private static func values(_ schedule: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.of(schedule) as? PageModel ?? [:]
        let isPaused = schedule["paused"] == .bool(true)
        model["isPaused"] = isPaused
        model["stateKind"] = isPaused ? "warn" : schedule["nextRunAt"] == .null ? "good" : "run"
        let state = isPaused ? "paused" : schedule["nextRunAt"] == .null ? "over" : "active"
        model["stateText"] = request.texts["schedules.states.\(state)"]
        model["words"] = CronPlan(cron: schedule["schedule"]["cron"].stringValue ?? "").words(request.texts)
        model["zone"] = schedule["schedule"]["timeZone"].stringValue ?? ""
        model["cron"] = schedule["schedule"]["cron"].stringValue ?? ""
        model["by"] = schedule["key"]["name"].stringValue ?? ""
        return model
    }
}
