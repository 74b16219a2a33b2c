import Hummingbird
package import ProviderModel
package import PushHTTP
import PushStore
import PushSupport
package import PushTypes

/// The operation `GET /v1/apps/{app}/schedules:calendar`, which returns the runs of an app's schedules in a time range.
struct ScheduleCalendarController: Controller {
    let store: any AppStore & ScheduleStore
    let time: any TimeSource

    /// The maximum length of the time range, in days. A longer one is rejected.
    private static let maximumDays: Int64 = 93
    /// The maximum number of runs in a response, which is marked as incomplete if there are more.
    private static let maximumRuns = 1000

    var operations: [ProviderOperation] {
        [
            .init(.get, "/v1/apps/{app}/schedules:calendar", id: "showCalendar", self.show)
                .summary("The runs of the app's schedules in a range, the earliest first.")
                .tag(.schedules).scope(.read).parameters(.from, .to).responses(.ok(CalendarResponse.schema))
        ]
    }

    private func show(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let range = try request.timeRange()
        let from = range.from ?? self.time.now
        let to = range.to ?? from.advanced(by: .seconds(31 * 86_400))
        guard from < to, to.seconds - from.seconds <= Self.maximumDays * 86_400 else {
            throw RequestError.invalid("to", "a range has at most \(Self.maximumDays) days")
        }
        return try .json(Self.calendar(of: try await self.schedules(app), from: from, to: to))
    }

    private func schedules(_ app: AppRecord) async throws -> [ScheduleRecord] {
        var schedules: [ScheduleRecord] = []
        var place: ScheduleCursor?
        repeat {
            let page = try await self.store.schedules(app: app.id, after: place, limit: 1000, longestRequest: 0)
            schedules += page.entries.map(\.schedule)
            place = page.next
        } while place != nil
        return schedules
    }

    private static func calendar(of schedules: [ScheduleRecord], from: Timestamp, to: Timestamp) -> CalendarResponse {
        typealias Run = CalendarResponse.Run
        let beforeFirst = from.advanced(by: .milliseconds(-1))
        // The next run of each schedule.
        var next = schedules.compactMap { schedule -> Run? in
            schedule.rule.nextRun(after: max(beforeFirst, schedule.createdAt)).map { Run(schedule: schedule, at: $0) }
        }
        var runs: [Run] = []
        while let index = next.indices.min(by: { next[$0].at < next[$1].at }), next[index].at < to {
            guard runs.count < Self.maximumRuns else { return CalendarResponse(runs: runs, isComplete: false) }
            let run = next[index]
            runs.append(run)
            if let following = run.schedule.rule.nextRun(after: run.at) {
                next[index] = Run(schedule: run.schedule, at: following)
            } else {
                next.remove(at: index)
            }
        }
        return CalendarResponse(runs: runs, isComplete: true)
    }
}

/// The response body that lists the runs of an app's schedules in a time range.
package struct CalendarResponse: ResponseObject {
    package struct Run: ResponseObject {
        package let schedule: ScheduleRecord
        package let at: Timestamp

        package static let schemaName: String? = "CalendarRun"
        package static let members: [ResponseMember<Self>] = [
            .required("schedule", \.schedule.id),
            .required("name", \.schedule.name),
            .required("atMs", \.at),
            .required("paused", \.schedule.isPaused, "true: it will not run unless it is resumed."),
        ]
    }

    package let runs: [Run]
    package let isComplete: Bool

    package static let schemaName: String? = "Calendar"
    package static let members: [ResponseMember<Self>] = [
        .required("runs", \.runs),
        .required("complete", \.isComplete, "false: there are more, after the last of these."),
    ]
}
