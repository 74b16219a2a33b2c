import ArgumentParser
import PushSupport

/// `martlet statistics`: shows what was sent and opened in intervals.
struct StatisticsCommand: RequestCommand {
    static let configuration = command("statistics", "Show what was sent and opened, in minutes, hours or days.")
        .example("statistics --app com.example.MyApp --from 2026-11-01T00:00:00Z --step day")

    /// The numbers of an interval.
    static let outcomes = ["accepted", "rejected", "failed", "skipped", "unknown", "opened"]

    @OptionGroup var access: ProviderOptions
    @Option(help: "Only the numbers of the app with this bundle id.") var app: String?
    @Option(help: "From this time on, as 2026-11-25T09:30:00Z; default: a day ago.") var from: String?
    @Option(help: "Before this time.") var to: String?
    @Option(help: "minute, hour or day; default: by the length of the range.") var step: String?

    func request() -> APIRequest {
        .get("statistics").query([
            ("app", self.app), ("from", self.from), ("to", self.to), ("step", self.step),
        ])
    }

    func text(of response: JSONValue) -> String {
        let numbers = Self.outcomes.map { TextTable.Column(stringLiteral: $0) }
        let intervals = response["intervals"].elements
        guard !intervals.isEmpty else { return "(none)" }
        let chart = TextTable([.time(response["step"].plainText, "atMs")] + numbers).text(of: intervals)
        let reasons = response["reasons"].elements
        let columns: TextTable = ["count", "state", "reason"]
        return reasons.isEmpty ? chart : "\(chart)\n\n\(columns.text(of: reasons))"
    }
}
