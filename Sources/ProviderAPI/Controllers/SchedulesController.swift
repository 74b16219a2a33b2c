import Foundation
import HTTPTypes
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// Notifications that are sent again and again.
struct SchedulesController: Controller {
    let store: any ProviderStore
    /// Of the runner.
    let wake: WakeSignal
    let time: any TimeSource
    var limits = ScheduleLimits()

    /// Requests of more bytes are left out of a list.
    private static let longestListed = 2048
    /// How often a change is decided anew because the schedule was changed by another meanwhile.
    private static let tries = 16

    private static let request = Schema.object(required: [
        "name": .string(length: 1...200), "schedule": .rule, "notification": .notificationRequest,
    ]).named("ScheduleRequest")
    private static let runs = Schema.list("runs", of: .moment).named("Runs")
    private static let count = ParameterDescription(
        name: "count",
        summary: "How many; default 10.",
        schema: .integer(1...100)
    )

    var operations: [APIOperation] {
        let body = BodyDescription(schema: Self.request)
        return [
            self.operation(.post, "/v1/apps/{app}/schedules", "addSchedule", "Adds a schedule.", body, self.add),
            self.operation(.get, "/v1/apps/{app}/schedules", "listSchedules", "The app's schedules.", nil, self.list),
            self.operation(
                .post,
                "/v1/apps/{app}/schedules:preview",
                "previewSchedule",
                "When a schedule would run.",
                BodyDescription(schema: .object(required: ["schedule": .rule])),
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
        _ body: BodyDescription?,
        _ handler: @escaping APIOperation.Handler
    ) -> APIOperation {
        let isQuestion = method == .get || id.hasPrefix("preview")
        let answer: ResponseDescription =
            switch id {
            case "addSchedule": .created(ScheduleResponse.schema)
            case "deleteSchedule": .noContent
            case "listSchedules": .ok(.page("schedules", of: ScheduleResponse.listed))
            case "listRuns", "previewSchedule": .ok(Self.runs)
            default: .ok(ScheduleResponse.schema)
            }
        return APIOperation(
            method: method,
            path: path,
            id: id,
            summary: summary,
            tag: .schedules,
            scope: isQuestion ? .read : .send,
            parameters: Self.parameters(of: id),
            body: body,
            answers: [answer],
            refusals: isQuestion ? [] : [409],
            isAudited: !isQuestion,
            handler: handler
        )
    }

    private static func parameters(of id: String) -> [ParameterDescription] {
        switch id {
        case "listRuns", "previewSchedule": [Self.count]
        case "listSchedules": [.cursor, .limit()]
        default: []
        }
    }

    private struct Request {
        var name: String
        var rule: RecurringSchedule
        var notification: Data
    }

    private func request(_ call: OperationRequest, app: AppRecord) async throws -> Request {
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

    private func add(_ call: OperationRequest) async throws -> Response {
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
        let added = try self.changed(try await self.store.addSchedule(schedule, limits: self.limits))
        self.wake.signal()
        return try JSONResponse.make(.created, ScheduleResponse(added, app: app.bundleID))
    }

    private struct Schedules: Encodable {
        var schedules: [ScheduleResponse]
        var next: String?
    }

    private func list(_ call: OperationRequest) async throws -> Response {
        let app = try await call.app(self.store)
        let page = try await self.store.schedules(
            app: app.id,
            after: try call.cursor(.schedules).map(ScheduleCursor.init),
            limit: try call.limit(),
            longestRequest: Self.longestListed
        )
        let answers = page.entries.map { entry in
            var answer = ScheduleResponse(entry.schedule, app: app.bundleID)
            if entry.requestBytes > Self.longestListed { answer.notification = nil }
            answer.notificationBytes = entry.requestBytes
            return answer
        }
        let next = page.next.map { Cursor(list: .schedules, position: $0.number).text }
        return try JSONResponse.make(.ok, Schedules(schedules: answers, next: next))
    }

    private func show(_ call: OperationRequest) async throws -> Response {
        let (schedule, app) = try await self.schedule(call)
        return try JSONResponse.make(.ok, ScheduleResponse(schedule, app: app.bundleID))
    }

    private func change(_ call: OperationRequest) async throws -> Response {
        let (known, app) = try await self.schedule(call)
        let request = try await self.request(call, app: app)
        let change = ScheduleChange.replace(
            name: request.name,
            request: request.notification,
            rule: try request.rule.json.text,
            nextRunAt: request.rule.nextRun(after: self.time.now)
        )
        let changed = try self.changed(try await self.store.changeSchedule(known.id, change, limits: self.limits))
        self.wake.signal()
        return try JSONResponse.make(.ok, ScheduleResponse(changed, app: app.bundleID))
    }

    private func pause(_ call: OperationRequest, _ isPaused: Bool) async throws -> Response {
        for _ in 0..<Self.tries {
            let (schedule, app) = try await self.schedule(call)
            // What was missed on purpose is not made up for.
            let change: ScheduleChange =
                isPaused
                ? .pause(version: nil)
                : .resume(
                    nextRunAt: schedule.recurring?.nextRun(after: self.time.now),
                    version: schedule.version
                )
            let answer = try await self.store.changeSchedule(schedule.id, change, limits: self.limits)
            // The next run follows from a rule that was changed meanwhile.
            if answer == .stale { continue }
            let changed = try self.changed(answer)
            self.wake.signal()
            return try JSONResponse.make(.ok, ScheduleResponse(changed, app: app.bundleID))
        }
        throw try self.refusal(.stale)
    }

    /// The record after a change.
    /// - Throws: ``RequestError`` for a change that was not made.
    private func changed(_ answer: ScheduleChangeResult) throws -> ScheduleRecord {
        guard case .changed(let schedule) = answer else { throw try self.refusal(answer) }
        return schedule
    }

    private func refusal(_ answer: ScheduleChangeResult) throws -> RequestError {
        let (code, message): (String, String) =
            switch answer {
            case .changed, .missing: throw RequestError.noSuch("schedule", "schedule")
            case .stale: ("changed_meanwhile", "others change this schedule at the same time: try again")
            case .tooMany:
                ("too_many_schedules", "an app has at most \(self.limits.count) schedules: remove some first")
            case .tooLarge:
                (
                    "schedules_too_large",
                    "an app's schedules have at most \(self.limits.bytes) bytes of notifications together: remove some first"
                )
            }
        return RequestError(.conflict, code: code, message: message)
    }

    private func delete(_ call: OperationRequest) async throws -> Response {
        guard let id = call.uuid("schedule"), try await self.store.deleteSchedule(id) else {
            throw RequestError.noSuch("schedule", "schedule")
        }
        return Response(status: .noContent)
    }

    private func nextRuns(_ call: OperationRequest) async throws -> Response {
        let (schedule, _) = try await self.schedule(call)
        let count = try call.number("count", in: 1...100) ?? 10
        let runs = schedule.isPaused ? [] : schedule.recurring?.runs(Int(count), after: self.time.now) ?? []
        return try JSONResponse.make(.ok, ["runs": runs.map(\.milliseconds)])
    }

    private func preview(_ call: OperationRequest) async throws -> Response {
        _ = try await call.app(self.store)
        let count = try call.number("count", in: 1...100) ?? 10
        let fields = try await call.fields(["schedule"])
        guard let rule = try RecurringSchedule.parse("schedule", in: fields, now: self.time.now) else {
            throw fields.refusal("schedule", "missing_field", "say when: cron and timeZone")
        }
        return try JSONResponse.make(.ok, ["runs": rule.runs(Int(count), after: self.time.now).map(\.milliseconds)])
    }

    private func schedule(_ call: OperationRequest) async throws -> (ScheduleRecord, AppRecord) {
        guard let id = call.uuid("schedule"), let schedule = try await self.store.schedule(id),
            let app = try await self.store.app(id: schedule.app)
        else { throw RequestError.noSuch("schedule", "schedule") }
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
