import Foundation
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The pages of an app's schedules: the list, the calendar, and one schedule. The form is part of ``ComposePages``.
struct SchedulePages: PageArea {
    private static let count = 50

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/schedules", self.list), .get("/apps/{app}/schedules/calendar", self.calendar),
            .get("/apps/{app}/schedules/{schedule}", { try await self.page($0) }),
            .get("/apps/{app}/schedules/{schedule}/live", self.live),
            .post("/apps/{app}/schedules/{schedule}/pause", { try await self.change("pause", $0) }),
            .post("/apps/{app}/schedules/{schedule}/resume", { try await self.change("resume", $0) }),
            .post("/apps/{app}/schedules/{schedule}/delete", self.delete),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "schedules") }

    // MARK: Pages

    private func list(_ request: PageRequest) async throws -> Response {
        let query = URLText.query(["cursor": request.query("cursor"), "limit": "\(Self.count)"])
        let list = try await request.list("\(request.api)/schedules\(query)", of: ScheduleResponse.Entry.self)
        let path = Self.path(request)
        var model: PageModel = [
            "path": path, "app": request.parameter("app"), "maySend": request.may(.send),
            "new": "\(Dashboard.root)\(request.appPath)/notifications/new?when=recurring",
        ]
        model["rows"] = list.entries.map { entry -> PageModel in
            var row = PageValue.members(entry)
            Self.addValues(of: entry.response.schedule, to: &row, request)
            row["path"] = "\(path)/\(entry.response.schedule.id)"
            return row
        }
        model["hasRows"] = !list.entries.isEmpty
        model["pager"] = request.pager(list.next, path: "\(request.appPath)/schedules")
        return request.page("schedules", title: "schedules.title", model)
    }

    private func page(_ request: PageRequest, error: RequestError? = nil) async throws -> Response {
        let schedule = try await request.schedule()
        let path = "\(Self.path(request))/\(Self.id(request))"
        var model = PageValue.members(schedule)
        Self.addValues(of: schedule.schedule, to: &model, request)
        model["path"] = path
        model["maySend"] = request.may(.send)
        let runs = "/v1/schedules/\(Self.id(request))/runs?count=10"
        let times = try await request.get(runs, as: RunsResponse.self).times
        model["runs"] = times.map { PageText($0) }
        model["hasRuns"] = !times.isEmpty
        model["audience"] = schedule.notification["to"].line
        let environment = schedule.notification["environment"].stringValue ?? "none"
        model["environment"] = request.texts["compose.environmentOptions.\(environment)"]
        model["preview"] = try await self.preview(schedule, request, countsRecipients: false)
        model["live"] = "\(path)/live"
        return request.page("schedule", title: schedule.schedule.name, model, error: error)
    }

    /// Returns the event stream that adds the number of recipients to the page, because the page does not wait for it.
    private func live(_ request: PageRequest) async throws -> Response {
        let schedule = try await request.schedule()
        return request.live { request in
            let preview = try await self.preview(schedule, request, countsRecipients: true)
            return .init(html: request.part("push-preview", preview), isFinal: true)
        }
    }

    private func preview(_ schedule: ScheduleResponse, _ request: PageRequest, countsRecipients: Bool) async throws
        -> PageModel
    {
        do {
            let path = "\(request.api)/notifications:preview\(countsRecipients ? "" : "?count=false")"
            let call = LocalAPIRequest.post(path, schedule.notification)
            let preview = try await request.call(call, as: PreviewResponse.self, isNoted: !countsRecipients)
            return PushPreview(preview, texts: request.texts, countsRecipients: countsRecipients).values()
        } catch let error as RequestError {
            return PushPreview(error).values()
        }
    }

    private func calendar(_ request: PageRequest) async throws -> Response {
        let now = Self.date(request.interface.time.now.milliseconds)
        // An unknown time zone is treated as UTC, as an invalid month is treated as the current one.
        let asked = request.query("zone") ?? ""
        let name = TimeZone(named: asked) == nil ? "UTC" : asked
        let grid = MonthGrid(request.query("month"), now: now, zone: TimeZone(named: name) ?? .gmt)
        let (from, to) = (
            Int64(grid.range.lowerBound.timeIntervalSince1970), Int64(grid.range.upperBound.timeIntervalSince1970)
        )
        let query = URLText.query(["from": "\(from)", "to": "\(to)"])
        let calendar = try await request.get("\(request.api)/schedules:calendar\(query)", as: CalendarResponse.self)
        let runs = Dictionary(grouping: calendar.runs) { grid.local(Self.date($0.at.milliseconds)).day }
        let path = Self.path(request)
        let today = grid.local(now).day
        func month(_ month: String) -> String {
            "\(path)/calendar" + URLText.query(["month": month, "zone": name == "UTC" ? nil : name])
        }
        let model: PageModel = [
            "path": path, "calendar": "\(path)/calendar", "month": grid.month, "zone": name,
            "zones": try await Self.zones(request),
            "isIncomplete": !calendar.isComplete,
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

    private static func zones(_ request: PageRequest) async throws -> [String] {
        let list = try await request.list("\(request.api)/schedules?limit=100", of: ScheduleResponse.Entry.self)
        return Set(list.entries.map(\.response.schedule.rule.timeZone.identifier)).sorted()
    }

    /// The maximum number of runs that a day of the calendar shows. The number of further runs is shown too.
    private static let runsOfDay = 4

    private static func day(
        _ day: String,
        _ runs: [CalendarResponse.Run],
        grid: MonthGrid,
        today: String,
        path: String
    ) -> PageModel {
        var model: PageModel = [
            "day": day, "number": String(day.suffix(2)), "isOther": !day.hasPrefix(grid.month), "isToday": day == today,
            "hasRuns": !runs.isEmpty,
            "runs": runs.prefix(Self.runsOfDay).map { run -> PageModel in
                var model = PageValue.members(run)
                model["time"] = grid.local(Self.date(run.at.milliseconds)).time
                (model["path"], model["isPaused"]) = ("\(path)/\(run.schedule.id)", run.schedule.isPaused)
                return model
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

    private static func id(_ request: PageRequest) -> String { URLText.encoded(request.parameter("schedule")) }

    private static func path(_ request: PageRequest) -> String { "\(Dashboard.root)\(request.appPath)/schedules" }

    private static func addValues(of schedule: ScheduleRecord, to model: inout PageModel, _ request: PageRequest) {
        let (isPaused, isOver) = (schedule.isPaused, schedule.nextRunAt == nil)
        model["isPaused"] = isPaused
        model["stateKind"] = isPaused ? "warn" : isOver ? "good" : "run"
        model["stateText"] = request.texts["schedules.states.\(isPaused ? "paused" : isOver ? "over" : "active")"]
        model["words"] = CronPlan(cron: schedule.rule.cron.text).words(request.texts)
        (model["zone"], model["cron"]) = (schedule.rule.timeZone.identifier, schedule.rule.cron.text)
        model["by"] = schedule.key?.name ?? ""
    }
}

/// The calendar of a month in a time zone, in weeks that start on Monday.
struct MonthGrid {
    let month: String
    let previous: String
    let next: String
    /// The days of each week, such as `2026-11-30`. Days of the adjacent months complete the first and the last week.
    let weeks: [[String]]
    let range: Range<Date>
    private let zone: TimeZone

    /// Creates the calendar of a month, such as `2026-11`. For `nil` and invalid strings, the month of `now` is used.
    init(_ month: String?, now: Date, zone: TimeZone) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = (month ?? "").split(separator: "-").compactMap { Int($0) }
        var first = DateComponents(year: parts.first, month: parts.dropFirst().first, day: 1)
        if parts.count != 2 || !(1970...9999).contains(parts[0]) || !(1...12).contains(parts[1]) {
            first = calendar.dateComponents([.year, .month], from: now)
            first.day = 1
        }
        let start = calendar.date(from: first) ?? now
        let end = calendar.date(byAdding: .month, value: 1, to: start) ?? now
        self.zone = zone
        self.month = String(Self.day(start, zone).prefix(7))
        self.previous = String(Self.day(start.addingTimeInterval(-43_200), zone).prefix(7))
        self.next = String(Self.day(end, zone).prefix(7))
        // The weekday of Sunday is 1. Days are added by the calendar, because a day may have 23 to 25 hours.
        let before = (calendar.component(.weekday, from: start) + 5) % 7
        let monday = calendar.date(byAdding: .day, value: -before, to: start) ?? start
        var day = monday
        var weeks: [[String]] = []
        while day < end, weeks.count < 6 {
            let days = (0...7).map { calendar.date(byAdding: .day, value: $0, to: day) ?? end }
            weeks.append(days.dropLast().map { Self.day($0, zone) })
            day = days[7]
        }
        self.weeks = weeks
        self.range = monday..<max(monday, day)
    }

    func local(_ date: Date) -> (day: String, time: String) {
        let text = date.formatted(Date.ISO8601FormatStyle(timeZone: self.zone))
        return (String(text.prefix(10)), String(text.dropFirst(11).prefix(5)))
    }

    private static func day(_ date: Date, _ zone: TimeZone) -> String {
        String(date.formatted(Date.ISO8601FormatStyle(timeZone: zone)).prefix(10))
    }
}
