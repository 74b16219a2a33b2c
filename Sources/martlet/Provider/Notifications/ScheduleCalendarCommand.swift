import ArgumentParser
import PushSupport

/// `martlet schedule calendar`: shows the runs of all schedules of an app.
struct ScheduleCalendarCommand: RequestCommand {
    static let configuration = command("calendar", "Show the runs of all schedules of an app, a month from now on.")
        .example("schedule calendar --app com.example.MyApp --to 2026-12-24T00:00:00Z")

    @OptionGroup var access: AppOptions
    @Option(help: "From this time on, as 2026-11-25T09:30:00Z.") var from: String?
    @Option(help: "Before this time.") var to: String?

    func request() -> APIRequest {
        .get(ScheduleCommand.Schedule.path).action("calendar").query([("from", self.from), ("to", self.to)])
    }

    func text(of response: JSONValue) -> String {
        let columns: TextTable = [.time("at", "atMs"), "name", "paused", .init("id", "schedule")]
        let runs = response["runs"].elements
        guard !runs.isEmpty else { return "(none)" }
        let more = response["complete"] == .bool(false) ? "\n(and more)" : ""
        return columns.text(of: runs) + more
    }
}
