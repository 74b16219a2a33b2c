import ArgumentParser
import PushSupport

struct GatewayCountersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "counters",
        abstract: "How often each event happened since the gateway was started, in Apple's words.",
        discussion: "Example: martlet gateway counters"
    )

    @OptionGroup var admin: AdminOptions

    func run() async throws {
        try await self.admin.show(APIRequest(.get, ["counters"])) { answer in
            TextTable(
                [.init("environment", "environment"), .init("event", "event"), .init("count", "count")],
                answer["counters"].elements.filter { $0["count"] != .integer(0) }
            ).text
        }
    }
}
