package import PushHTTP
import PushProvider
package import PushStore
package import PushSupport
package import PushTypes

/// A schedule in a response.
package struct ScheduleResponse: ResponseObject {
    package let schedule: ScheduleRecord
    /// The bundle id of the app.
    package let app: Topic
    /// The warnings, which only the response to a request with a body has.
    var warnings: [ContentWarning]?

    /// The body of the notification's request.
    package var notification: JSONValue { (try? JSONValue(parsing: self.schedule.request)) ?? .object([:]) }

    package static let schemaName: String? = "Schedule"
    package static let members =
        Self.common + [
            .required("notification", \.notification),
            .required("notificationBytes", \.schedule.request.count), .optional("warnings", \.warnings),
        ]

    /// The members that an entry of a list has too.
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

    /// A schedule in a list, which leaves long notifications out.
    package struct Entry: ResponseObject {
        /// The longest notification that a list shows, in bytes.
        static let maximumNotification = 2048

        package let response: ScheduleResponse
        /// The length of the stored notification.
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

/// The times of runs in a response.
package struct RunsResponse: ResponseObject {
    let runs: [Timestamp]

    package var times: [String] { self.runs.map(\.rfc3339) }

    package static let schemaName: String? = "Runs"
    package static let members: [ResponseMember<Self>] = [
        .required("runs", \.runs, "In milliseconds since 1970."), .required("times", \.times, "In RFC 3339."),
    ]
}
