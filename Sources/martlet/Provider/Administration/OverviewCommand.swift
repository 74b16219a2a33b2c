import ArgumentParser
import PushSupport

/// `martlet overview`: shows notifications in progress and faults.
struct OverviewCommand: RequestCommand {
    static let configuration = command("overview", "Show trouble, campaigns in progress and the figures of today.")
        .example("overview --time-zone Europe/Berlin")

    @OptionGroup var access: ProviderOptions
    @Option(help: "The time zone in which today begins; default: UTC.") var timeZone: String?

    func request() -> APIRequest { .get("overview").query([("timeZone", self.timeZone)]) }

    func text(of response: JSONValue) -> String {
        let trouble = response["trouble"].elements.map { entry in
            let place = [entry["app"].plainText, entry["environment"].plainText].filter { !$0.isEmpty }
            let prefix = place.isEmpty ? "" : "\(place.joined(separator: " ")): "
            return "! \(prefix)\(entry["message"].plainText)\n  \(entry["remedy"].plainText)".printableLines
        }
        let campaigns = response["campaigns"].elements
        let columns: TextTable = [
            "app", "name", "state", "recipients", .init("accepted", "counters.accepted"),
            .init("per second", "ratePerSecond"), .init("seconds left", "secondsLeft"), "id",
        ]
        let sections = [
            trouble.isEmpty ? "no trouble" : trouble.joined(separator: "\n"),
            campaigns.isEmpty ? "no campaign in progress" : columns.text(of: campaigns),
            "today: "
                + StatisticsCommand.outcomes.map { "\(response["today"][$0].plainText) \($0)" }.joined(separator: ", "),
        ]
        return sections.joined(separator: "\n\n")
    }
}

extension String {
    /// The text without control characters but line ends.
    fileprivate var printableLines: String {
        self.split(separator: "\n", omittingEmptySubsequences: false).map { String($0).printable }.joined(
            separator: "\n"
        )
    }
}
