import ArgumentParser
import Logging

struct GatewayEventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What happened to notifications and devices, newest first; or as it happens.",
        discussion: """
            With --follow, events are printed until Ctrl-C, one line each; with --after, those since then come first.

            Example: martlet gateway events --token 01a2… --follow
            """
    )

    @OptionGroup var admin: AdminOptions
    @OptionGroup(title: "Which events") var which: EventOptions

    @Option(help: "At most so many, up to 1000. Default: 50.")
    var limit: Int?

    @Flag(help: "Print events as they happen, until Ctrl-C.")
    var follow = false

    func validate() throws {
        guard !self.follow || self.limit == nil else {
            throw ValidationError("--follow has no end to count to: leave out --limit.")
        }
    }

    func run() async throws {
        guard self.follow else {
            let query = self.which.query + [("limit", self.limit.map { "\($0)" })]
            return try await self.admin.show(APIRequest(.get, ["events"], query: query)) { answer in
                let events = answer["events"].elements
                return events.isEmpty ? "(none)" : TextTable(EventText.columns, events).text
            }
        }
        let request = APIRequest(.get, ["events", "stream"], query: self.which.query)
        let printer = EventPrinter(call: try await self.admin.call(), path: request.path, asJSON: self.admin.json)
        try await ServiceRun.run(
            [],
            endsWith: printer,
            logger: Logger(label: "martlet") { _ in SwiftLogNoOpLogHandler() }
        )
    }
}
