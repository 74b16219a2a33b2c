import Foundation
import Hummingbird
package import ProviderModel
package import PushHTTP
import PushProvider
import PushStore
package import PushSupport
package import PushTypes

/// The operations at `/v1/schedules`, which manage recurring notifications.
struct SchedulesController: Controller {
    let store: any AppStore & DeviceStore & LibraryStore & ScheduleStore
    let wake: WakeSignal
    let time: any TimeSource
    var limits = ScheduleLimits()

    /// The maximum number of attempts to pause or resume a schedule that other requests change at the same time. After
    /// that, the response has status 409.
    private static let maximumAttempts = 16

    private static let count = ParameterDescription.query("count", "The number of runs; default 10.", .integer(1...100))

    var operations: [ProviderOperation] {
        let shown = ResponseDescription.ok(ScheduleResponse.schema)
        let path = "/v1/schedules/{schedule}"
        let operations: [ProviderOperation] = [
            .init(.post, "/v1/apps/{app}/schedules", .audited, id: "addSchedule", "Adds a schedule.", self.add)
                .scope(.send).body(ScheduleRequest.object.schema).responses(.created(ScheduleResponse.schema))
                .errors(.conflict),
            .init(.get, "/v1/apps/{app}/schedules", id: "listSchedules", "The app's schedules.", self.list)
                .scope(.read).parameters(.cursor, .limit())
                .responses(.ok(.page("schedules", of: ScheduleResponse.Entry.schema))).reservingPage(ofEntries: 640),
            .init(.post, "/v1/apps/{app}/schedules:preview", .readOnly, id: "previewSchedule", self.preview)
                .summary("The times at which a schedule would run.")
                .scope(.read).parameters(Self.count).body(ScheduleRequest.preview.schema)
                .responses(.ok(RunsResponse.schema)),
            .init(.get, path, id: "showSchedule", "One schedule.", self.show)
                .scope(.read).responses(shown),
            .init(.put, path, .audited, id: "changeSchedule", "Replaces a schedule.", self.change)
                .scope(.send).body(ScheduleRequest.object.schema).responses(shown).errors(.conflict),
            .init(.delete, path, .audited, id: "deleteSchedule", "Removes a schedule.", self.delete)
                .scope(.send).responses(.noContent).errors(.conflict),
            self.pause("pause", "Stops all runs.", isPaused: true),
            self.pause("resume", "Continues with the next run.", isPaused: false),
            .init(.get, "\(path)/runs", id: "listRuns", "The next runs of a schedule.", self.nextRuns)
                .scope(.read).parameters(Self.count).responses(.ok(RunsResponse.schema)),
        ]
        return operations.map { $0.tag(.schedules) }
    }

    /// Returns the operation that pauses the schedule in the path if `isPaused` is `true`, and otherwise resumes it.
    private func pause(_ name: String, _ summary: String, isPaused: Bool) -> ProviderOperation {
        .init(.post, "/v1/schedules/{schedule}:\(name)", .audited, id: "\(name)Schedule", summary) {
            try await self.pause($0, isPaused)
        }
        .scope(.send).responses(.ok(ScheduleResponse.schema)).errors(.conflict)
    }

    /// Parses and validates the body of a request that adds or replaces a schedule, and returns the new schedule with
    /// its warnings.
    private func parse(
        _ request: OperationRequest,
        app: AppRecord
    ) async throws -> (schedule: ScheduleRecord, warnings: [ContentWarning]) {
        let fields = try await request.fields(ScheduleRequest.object)
        let now = self.time.now
        let name = try fields.required(ScheduleRequest.name)
        let rule = try self.rule(in: fields)
        let notification = try fields.required(ScheduleRequest.notification, "name the content and the audience")
        try ScheduleRequest.checkTimes(notification)
        let library = try await LibraryContents(of: notification, app: app.id, in: self.store)
        let wanted = try NotificationRequest(
            notification,
            bundleID: app.bundleID,
            now: now,
            receipts: app.receipts,
            library: library
        )
        var schedule = ScheduleRecord(
            id: UUID(),
            app: app.id,
            name: name,
            request: try JSONValue.object(notification.members).text,
            rule: rule,
            nextRunAt: rule.nextRun(after: now),
            createdAt: now
        )
        (schedule.key, schedule.uses) = (request.caller?.reference, library.uses)
        let times = DeprecatedTimes.warnings(in: .object(fields.members.filter { $0.key == "schedule" }))
        let missing = try await ContentWarning.missingTokens(for: wanted, app: app.id, in: self.store)
        let content = (wanted.warnings + [missing].compactMap(\.self)).map {
            ContentWarning(field: "notification.\($0.field)", message: $0.message)
        }
        return (schedule, times + content)
    }

    /// Adds a schedule. The first run is at the next time that the rule determines.
    private func add(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let (new, warnings) = try await self.parse(request, app: app)
        let result = try await self.store.addSchedule(new, limits: self.limits)
        if case .changed(let schedule) = result { request.made(schedule.id) }
        return try self.response(result, app, warnings: warnings, status: .created)
    }

    /// Lists schedules. Long notifications are omitted (``ScheduleResponse/Entry``).
    private func list(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let wanted = try request.page(.schedules)
        let page = try await self.store.schedules(
            app: app.id,
            after: wanted.after.map(ScheduleCursor.init),
            limit: wanted.limit,
            longestRequest: ScheduleResponse.Entry.maximumNotification
        )
        let schedules = page.entries.map { entry in
            let response = ScheduleResponse(schedule: entry.schedule, app: app.bundleID)
            return ScheduleResponse.Entry(response: response, notificationBytes: entry.requestBytes)
        }
        let next = page.next.map { Cursor(list: .schedules, position: $0.number).text }
        return try .page("schedules", schedules, next: next)
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let (schedule, app) = try await self.schedule(request)
        return try .json(ScheduleResponse(schedule: schedule, app: app.bundleID))
    }

    /// Replaces the name, the rule and the notification of a schedule, even if its record is damaged. A paused schedule
    /// stays paused.
    private func change(_ request: OperationRequest) async throws -> Response {
        let (id, app) = try await request.object("schedule") { id in
            try await self.store.app(ofSchedule: id).map { (id, $0) }
        }
        let (new, warnings) = try await self.parse(request, app: app)
        let (text, next) = (new.request, new.nextRunAt)
        let change = ScheduleChange.replace(
            name: new.name,
            request: text,
            rule: new.rule,
            nextRunAt: next,
            key: new.key,
            uses: new.uses
        )
        let result = try await self.store.changeSchedule(id, change, limits: self.limits)
        return try self.response(result, app, warnings: warnings)
    }

    /// Pauses or resumes a schedule. If another request changes the schedule at the same time, tries again, up to
    /// ``maximumAttempts`` times.
    private func pause(_ request: OperationRequest, _ isPaused: Bool) async throws -> Response {
        for _ in 0..<Self.maximumAttempts {
            let (schedule, app) = try await self.schedule(request)
            // Runs that were missed during the pause are not caught up.
            let change: ScheduleChange =
                isPaused
                ? .pause(version: nil)
                : .resume(nextRunAt: schedule.rule.nextRun(after: self.time.now), version: schedule.version)
            let result = try await self.store.changeSchedule(schedule.id, change, limits: self.limits)
            // Another request has changed the rule, and therefore the next run.
            if result == .stale { continue }
            return try self.response(result, app)
        }
        throw self.error(.stale)
    }

    /// Wakes the schedule runner, and returns the response to a change. `nil` or empty `warnings` omit the member.
    /// - Throws: ``RequestError`` for a change that was not made, such as a conflict.
    private func response(
        _ result: ScheduleChangeResult,
        _ app: AppRecord,
        warnings: [ContentWarning]? = nil,
        status: HTTPResponse.Status = .ok
    ) throws -> Response {
        guard case .changed(let schedule) = result else { throw self.error(result) }
        self.wake.signal()
        let shown = warnings?.isEmpty == true ? nil : warnings
        let response = ScheduleResponse(schedule: schedule, app: app.bundleID, warnings: shown)
        return try .json(response, status: status)
    }

    private func error(_ result: ScheduleChangeResult) -> RequestError {
        switch result {
        case .changed, .missing: .noSuch("schedule")
        case .stale: .conflict("changed_meanwhile", "the schedule is being changed by other requests: try again")
        case .missingUse:
            .conflict("changed_meanwhile", "an audience or a template that it names was deleted meanwhile")
        case .tooMany:
            .conflict("too_many_schedules", "an app has at most \(self.limits.count) schedules: remove some first")
        case .tooLarge:
            .conflict(
                "schedules_too_large",
                "the notifications of an app's schedules have at most \(self.limits.bytes) bytes: remove some first"
            )
        }
    }

    private func delete(_ request: OperationRequest) async throws -> Response {
        guard let id = request.uuid("schedule"), try await self.store.deleteSchedule(id) else {
            throw RequestError.noSuch("schedule")
        }
        return .noContent
    }

    /// Lists the next runs of a schedule. The list is empty while the schedule is paused.
    private func nextRuns(_ request: OperationRequest) async throws -> Response {
        let (schedule, _) = try await self.schedule(request)
        return try self.runs(of: schedule.isPaused ? nil : schedule.rule, request)
    }

    private func preview(_ request: OperationRequest) async throws -> Response {
        _ = try await request.app(self.store)
        return try self.runs(of: try self.rule(in: try await request.fields(ScheduleRequest.preview)), request)
    }

    /// Returns the next runs of a rule. The list is empty for a `rule` of `nil`, which stands for a paused schedule.
    private func runs(of rule: RecurringSchedule?, _ request: OperationRequest) throws -> Response {
        let count = try request.number("count", in: 1...100) ?? 10
        return try .json(RunsResponse(runs: rule?.runs(Int(count), after: self.time.now) ?? []))
    }

    private func rule(in fields: JSONFields) throws -> RecurringSchedule {
        guard let rule = try RecurringSchedule.parse(in: fields, now: self.time.now) else {
            throw fields.error("schedule", "missing_field", "name the times: cron and timeZone")
        }
        return rule
    }

    private func schedule(_ request: OperationRequest) async throws -> (ScheduleRecord, AppRecord) {
        try await request.object("schedule") { id in
            guard let schedule = try await self.store.schedule(id) else { return nil }
            return try await self.store.app(id: schedule.app).map { (schedule, $0) }
        }
    }
}

extension RecurringSchedule {
    fileprivate func runs(_ count: Int, after start: Timestamp) -> [Timestamp] {
        var runs: [Timestamp] = []
        while runs.count < count, let next = self.nextRun(after: runs.last ?? start) { runs.append(next) }
        return runs
    }
}

/// The response object for a schedule, with the notification that it sends.
package struct ScheduleResponse: ResponseObject {
    package let schedule: ScheduleRecord
    package let app: Topic
    /// The warnings about the schedule. They are `nil` except in responses to requests that add or replace it.
    var warnings: [ContentWarning]?

    /// The notification, as the body of a request that sends it.
    package var notification: JSONValue { (try? JSONValue(parsing: self.schedule.request)) ?? .object([:]) }

    package static let schemaName: String? = "Schedule"
    package static let members =
        Self.common + [
            .required("notification", \.notification),
            .required("notificationBytes", \.schedule.request.count), .optional("warnings", \.warnings),
        ]

    /// The members of a schedule's response that the entries of a list have as well.
    private static let common: [ResponseMember<Self>] = [
        .required("id", \.schedule.id),
        .required("app", \.app),
        .required("name", \.schedule.name),
        .required("schedule", \.schedule.rule.json),
        .required("paused", \.schedule.isPaused),
        .optional("nextRunAtMs", \.schedule.nextRunAt),
        .optional("lastRunAtMs", \.schedule.lastRunAt),
        .required("createdAtMs", \.schedule.createdAt),
        .optional("key", \.schedule.key, "The API key that added or replaced it."),
        .optional("problem", \.schedule.problem?.message, "What went wrong with its latest runs."),
        .optional("problemAtMs", \.schedule.problem?.at),
    ]

    /// A schedule in a list, which omits long notifications.
    package struct Entry: ResponseObject {
        /// The maximum length of a notification that a list includes, in bytes. Longer ones are omitted.
        static let maximumNotification = 2048

        package let response: ScheduleResponse
        /// The length of the notification, in bytes, even if the list omits it.
        let notificationBytes: Int

        private var notification: JSONValue? {
            self.notificationBytes > Self.maximumNotification ? nil : self.response.notification
        }

        package static let schemaName: String? = "ListedSchedule"
        package static let members =
            ScheduleResponse.common.map { $0.within(\Self.response) } + [
                .optional("notification", \.notification, "Absent if it has more than 2,048 bytes."),
                .required("notificationBytes", \.notificationBytes),
            ]
    }
}

/// The response body that lists the next runs of a schedule.
package struct RunsResponse: ResponseObject {
    let runs: [Timestamp]

    package var times: [String] { self.runs.map(\.rfc3339) }

    package static let schemaName: String? = "Runs"
    package static let members: [ResponseMember<Self>] = [
        .required("runs", \.runs, "In milliseconds since 1970."), .required("times", \.times, "In RFC 3339."),
    ]
}
