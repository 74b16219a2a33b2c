import Foundation
import PushHTTP
import PushStore
import PushSupport
import PushTypes

/// A schedule in a response.
struct ScheduleResponse: Encodable {
    var id: String
    var app: String
    var name: String
    var schedule: JSONValue
    /// `nil` for a long one in a list.
    var notification: JSONValue?
    /// The length of the stored notification.
    var notificationBytes: Int
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
        self.notificationBytes = schedule.request.count
        self.paused = schedule.isPaused
        self.nextRunAtMs = schedule.nextRunAt?.milliseconds
        self.lastRunAtMs = schedule.lastRunAt?.milliseconds
        self.createdAtMs = schedule.createdAt.milliseconds
    }

    static let schema = Self.schema(listsAll: true).named("Schedule")
    static let listed = Self.schema(listsAll: false).named("ListedSchedule")

    private static func schema(listsAll: Bool) -> Schema {
        let notification = Schema.object(isOpen: true)
        var required: [(key: String, value: Schema)] = [
            ("id", .uuid), ("app", .string()), ("name", .string()), ("schedule", .object(isOpen: true)),
            ("notificationBytes", .integer()), ("paused", .bool), ("createdAtMs", .timestamp),
        ]
        var optional: [(key: String, value: Schema)] = [("nextRunAtMs", .timestamp), ("lastRunAtMs", .timestamp)]
        if listsAll {
            required.append(("notification", notification))
        } else {
            optional.append(("notification", notification.described("Absent if it has more than 2,048 bytes.")))
        }
        return .object(required: required, optional: optional)
    }
}
