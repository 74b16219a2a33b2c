import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// A schedule in a response.
struct ScheduleResponse: ResponseObject {
    let schedule: ScheduleRecord
    /// The bundle id of the app.
    let app: Topic
    /// The warnings, which only the response to a request with a body has.
    var warnings: [ContentWarning]?

    private var notification: JSONValue { (try? JSONValue(parsing: self.schedule.request)) ?? .object([:]) }

    static let schemaName: String? = "Schedule"
    static let members =
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
    struct Entry: ResponseObject {
        /// The longest notification that a list shows, in bytes.
        static let maximumNotification = 2048

        let response: ScheduleResponse
        /// The length of the stored notification.
        let notificationBytes: Int

        private var notification: JSONValue? {
            self.notificationBytes > Self.maximumNotification ? nil : self.response.notification
        }

        static let schemaName: String? = "ListedSchedule"
        static let members =
            ScheduleResponse.common.map { $0.within(\Self.response) } + [
                .optional("notification", \.notification, "Absent if it has more than 2,048 bytes."),
                .required("notificationBytes", \.notificationBytes),
            ]
    }
}
