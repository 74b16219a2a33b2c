import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProtocol
import PushProvider
import PushStore

/// Notifications that are sent again and again.
struct SchedulesController: Controller {
    let store: any PushStore
    /// Of the runner.
    let wake: Wake
    let time: any TimeSource

    private static let request = Schema.object(required: [
        "name": .string(length: 1...200), "schedule": .rule, "notification": .notificationRequest,
    ]).named("ScheduleRequest")
    private static let runs = Schema.list("runs", of: .moment).named("Runs")
    private static let count = Parameter(name: "count", summary: "How many; default 10.", schema: .integer(1...100))

    var operations: [Operation] {
        let body = RequestBody(schema: Self.request)
        return [
            self.operation(.post, "/v1/apps/{app}/schedules", "addSchedule", "Adds a schedule.", body, self.add),
            self.operation(.get, "/v1/apps/{app}/schedules", "listSchedules", "The app's schedules.", nil, self.list),
            self.operation(
                .post,
                "/v1/apps/{app}/schedules:preview",
                "previewSchedule",
                "When a schedule would run.",
                RequestBody(schema: .object(required: ["schedule": .rule])),
                self.preview
            ),
            self.operation(.get, "/v1/schedules/{schedule}", "showSchedule", "One schedule.", nil, self.show),
            self.operation(
                .put,
                "/v1/schedules/{schedule}",
                "changeSchedule",
                "Replaces a schedule.",
                body,
                self.change
            ),
            self.operation(.delete, "/v1/schedules/{schedule}", "deleteSchedule", "Forgets it.", nil, self.delete),
            self.operation(.post, "/v1/schedules/{schedule}:pause", "pauseSchedule", "No run until resumed.", nil) {
                try await self.pause($0, true)
            },
            self.operation(
                .post,
                "/v1/schedules/{schedule}:resume",
                "resumeSchedule",
                "Goes on with the next run.",
                nil
            ) { try await self.pause($0, false) },
            self.operation(.get, "/v1/schedules/{schedule}/runs", "listRuns", "Its next runs.", nil, self.nextRuns),
        ]
    }

    private func operation(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ id: String,
        _ summary: String,
        _ body: RequestBody?,
        _ handler: @escaping Operation.Handler
    ) -> Operation {
        let isQuestion = method == .get || id.hasPrefix("preview")
        let answer: Answer =
            switch id {
            case "addSchedule": .created(ScheduleAnswer.schema)
            case "deleteSchedule": .noContent
            case "listSchedules": .ok(.list("schedules", of: ScheduleAnswer.schema))
            case "listRuns", "previewSchedule": .ok(Self.runs)
            default: .ok(ScheduleAnswer.schema)
            }
        return Operation(
            method: method,
            path: path,
            id: id,
            summary: summary,
            tag: .schedules,
            scope: isQuestion ? .read : .send,
            parameters: ["listRuns", "previewSchedule"].contains(id) ? [Self.count] : [],
            body: body,
            answers: [answer],
            isAudited: !isQuestion,
            handler: handler
        )
    }

    private struct Request {
        var name: String
        var rule: RecurringSchedule
        var notification: Data
    }

    private func request(_ call: Call, app: AppRecord) async throws -> Request {
        let fields = try await call.fields(["name", "schedule", "notification"])
        let now = self.time.now
        let name = try fields.requiredString("name", maximum: 200)
        guard let rule = try RecurringSchedule.parse("schedule", in: fields, now: now) else {
            throw fields.refusal("schedule", "missing_field", "say when: cron and timeZone")
        }
        guard let notification = try fields.fields("notification", known: NotificationRequest.members) else {
            throw fields.refusal("notification", "missing_field", "say what to send and to whom")
        }
        _ = try NotificationRequest(notification, bundleID: app.bundleID, now: now)
        try Self.checkMoments(notification)
        return Request(name: name, rule: rule, notification: try JSONValue.object(notification.members).text)
    }

    /// One moment cannot fit every run.
    private static func checkMoments(_ notification: JSONFields) throws {
        if case .integer(let seconds)? = notification.members["expiration"], seconds > 0 {
            throw notification.refusal(
                "expiration",
                "conflicting_field",
                "one moment cannot fit every run: use 0 or none"
            )
        }
        guard case .object(let when)? = notification.members["when"] else { return }
        for name in ["at", "localTime"] where when[name] != nil {
            throw notification.refusal("when.\(name)", "conflicting_field", "the schedule says when: use window alone")
        }
    }

    private func add(_ call: Call) async throws -> Response {
        let app = try await call.app(self.store)
        let request = try await self.request(call, app: app)
        let now = self.time.now
        let schedule = ScheduleRecord(
            id: UUID(),
            app: app.id,
            name: request.name,
            request: request.notification,
            rule: try request.rule.json.text,
            nextRunAt: request.rule.nextRun(after: now),
            createdAt: now
        )
        try await self.store.addSchedule(schedule)
        self.wake.signal()
        return try JSONAnswer.make(.created, ScheduleAnswer(schedule, app: app.bundleID))
    }

    private func list(_ call: Call) async throws -> Response {
        let app = try await call.app(self.store)
        let schedules = try await self.store.schedules(app: app.id)
        return try JSONAnswer.make(.ok, ["schedules": schedules.map { ScheduleAnswer($0, app: app.bundleID) }])
    }

    private func show(_ call: Call) async throws -> Response {
        let (schedule, app) = try await self.schedule(call)
        return try JSONAnswer.make(.ok, ScheduleAnswer(schedule, app: app.bundleID))
    }

    private func change(_ call: Call) async throws -> Response {
        let (known, app) = try await self.schedule(call)
        let request = try await self.request(call, app: app)
        // Again: while the body came in, it may have been paused.
        guard var schedule = try await self.store.schedule(known.id) else {
            throw APIRefusal.noSuch("schedule", "schedule")
        }
        schedule.name = request.name
        schedule.request = request.notification
        schedule.rule = try request.rule.json.text
        schedule.nextRunAt = request.rule.nextRun(after: self.time.now)
        return try await self.store(schedule, app)
    }

    private func pause(_ call: Call, _ isPaused: Bool) async throws -> Response {
        var (schedule, app) = try await self.schedule(call)
        guard schedule.isPaused != isPaused else {
            return try JSONAnswer.make(.ok, ScheduleAnswer(schedule, app: app.bundleID))
        }
        schedule.isPaused = isPaused
        // What was missed on purpose is not made up for.
        if !isPaused { schedule.nextRunAt = schedule.recurring?.nextRun(after: self.time.now) }
        return try await self.store(schedule, app)
    }

    private func store(_ schedule: ScheduleRecord, _ app: AppRecord) async throws -> Response {
        guard try await self.store.updateSchedule(schedule) else { throw APIRefusal.noSuch("schedule", "schedule") }
        self.wake.signal()
        return try JSONAnswer.make(.ok, ScheduleAnswer(schedule, app: app.bundleID))
    }

    private func delete(_ call: Call) async throws -> Response {
        guard let id = call.uuid("schedule"), try await self.store.deleteSchedule(id) else {
            throw APIRefusal.noSuch("schedule", "schedule")
        }
        return Response(status: .noContent)
    }

    private func nextRuns(_ call: Call) async throws -> Response {
        let (schedule, _) = try await self.schedule(call)
        let count = try call.number("count", in: 1...100) ?? 10
        let runs = schedule.isPaused ? [] : schedule.recurring?.runs(Int(count), after: self.time.now) ?? []
        return try JSONAnswer.make(.ok, ["runs": runs.map(\.milliseconds)])
    }

    private func preview(_ call: Call) async throws -> Response {
        _ = try await call.app(self.store)
        let count = try call.number("count", in: 1...100) ?? 10
        let fields = try await call.fields(["schedule"])
        guard let rule = try RecurringSchedule.parse("schedule", in: fields, now: self.time.now) else {
            throw fields.refusal("schedule", "missing_field", "say when: cron and timeZone")
        }
        return try JSONAnswer.make(.ok, ["runs": rule.runs(Int(count), after: self.time.now).map(\.milliseconds)])
    }

    private func schedule(_ call: Call) async throws -> (ScheduleRecord, AppRecord) {
        guard let id = call.uuid("schedule"), let schedule = try await self.store.schedule(id),
            let app = try await self.store.app(id: schedule.app)
        else { throw APIRefusal.noSuch("schedule", "schedule") }
        return (schedule, app)
    }
}

extension RecurringSchedule {
    /// The first `count` runs later than `moment`.
    fileprivate func runs(_ count: Int, after moment: Timestamp) -> [Timestamp] {
        var runs: [Timestamp] = []
        while runs.count < count, let next = self.nextRun(after: runs.last ?? moment) { runs.append(next) }
        return runs
    }
}

extension ScheduleRecord {
    fileprivate var recurring: RecurringSchedule? {
        (try? JSONValue(parsing: self.rule)).flatMap { try? RecurringSchedule(stored: $0) }
    }
}

/// A schedule.
struct ScheduleAnswer: Encodable {
    var id: String
    var app: String
    var name: String
    var schedule: JSONValue
    var notification: JSONValue
    var paused: Bool
    var nextRunAtMs: Int64?
    var lastRunAtMs: Int64?
    var createdAtMs: Int64

    init(_ schedule: ScheduleRecord, app: Topic) {
        self.id = schedule.id.uuidString
        self.app = app.name
        self.name = schedule.name
        self.schedule = (try? JSONValue(parsing: schedule.rule)) ?? .object([:])
        self.notification = (try? JSONValue(parsing: schedule.request)) ?? .object([:])
        self.paused = schedule.isPaused
        self.nextRunAtMs = schedule.nextRunAt?.milliseconds
        self.lastRunAtMs = schedule.lastRunAt?.milliseconds
        self.createdAtMs = schedule.createdAt.milliseconds
    }

    static let schema = Schema.object(
        required: [
            "id": .uuid, "app": .string(), "name": .string(), "schedule": .object(isOpen: true),
            "notification": .object(isOpen: true), "paused": .bool, "createdAtMs": .moment,
        ],
        optional: ["nextRunAtMs": .moment, "lastRunAtMs": .moment]
    ).named("Schedule")
}
