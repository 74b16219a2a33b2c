import ArgumentParser

struct GatewayStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether a gateway runs, its doors, and how much there is.",
        discussion: "Example: martlet gateway status --json"
    )

    @OptionGroup var admin: AdminOptions

    func run() async throws {
        try await self.admin.show(APIRequest(.get, ["status"])) { status in
            let head = TextTable.details(
                [
                    .init("gateway", "status"), .init("data directory", "dataDirectory"), .init("admin", "admin"),
                    .init("devices", "devices"), .init("events", "events"),
                ],
                status
            )
            let table = TextTable(
                [
                    .init("environment", "environment"), .init("online", "devicesOnline"),
                    .init("unacknowledged", "unacknowledged"), .init("stored", "stored"), .init("doors", "doors"),
                ],
                status["environments"].elements
            )
            return "\(head)\n\n\(table.text)"
        }
    }
}
