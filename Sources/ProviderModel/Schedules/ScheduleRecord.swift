package import Foundation
package import PushTypes

/// A recurring notification with its schedule.
package struct ScheduleRecord: Hashable, Sendable {
    package var id: UUID
    package var app: Int64
    package var name: String
    /// The body of the notification's request, as it was received.
    package var request: Data
    /// The rule that determines the times of its runs.
    package var rule: RecurringSchedule
    /// The time of the next run, or `nil` if there is none.
    package var nextRunAt: Timestamp?
    package var lastRunAt: Timestamp?
    package var isPaused: Bool
    package var createdAt: Timestamp
    /// The API key that added or last replaced the schedule, or `nil` if it is not known.
    package var key: KeyReference?
    /// The problem of the latest runs, or `nil` after a successful run.
    package var problem: ScheduleProblem?
    /// The version, which rises with each change by a person, and when a user is erased from the audience. A run that
    /// was decided for another version is not sent.
    package var version: Int64 = 0
    /// The audiences and templates that the request names. They are written but not read with the record.
    package var uses: Set<LibraryUse> = []

    package init(
        id: UUID,
        app: Int64,
        name: String,
        request: Data,
        rule: RecurringSchedule,
        nextRunAt: Timestamp?,
        lastRunAt: Timestamp? = nil,
        isPaused: Bool = false,
        createdAt: Timestamp
    ) {
        (self.id, self.app, self.name, self.request, self.rule) = (id, app, name, request, rule)
        (self.nextRunAt, self.lastRunAt, self.isPaused, self.createdAt) = (nextRunAt, lastRunAt, isPaused, createdAt)
    }
}

/// The problem because of which a run of a schedule sent no notification. It is shown in the API and the dashboard.
package struct ScheduleProblem: Hashable, Sendable {
    package var message: String
    package var at: Timestamp

    package init(message: String, at: Timestamp) { (self.message, self.at) = (message, at) }
}
