import ArgumentParser

struct GatewayDeviceListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List them, oldest first.",
        discussion: "Example: martlet gateway device list --topic com.example.MyApp --online"
    )

    @OptionGroup var admin: AdminOptions

    @Flag(inversion: .prefixedNo, help: "Only those that are connected, or are not.")
    var online: Bool?

    @Option(help: "Only those with this app.")
    var topic: String?

    @Option(help: "Only those with this in their name.")
    var name: String?

    @Option(help: "At most so many.")
    var limit: Int?

    func run() async throws {
        try await self.admin.list(
            "devices",
            ["devices"],
            query: [("online", self.online.map { "\($0)" }), ("topic", self.topic), ("name", self.name)],
            limit: self.limit,
            [
                .init("device", "deviceId"), .init("name", "name"), .init("online", "online"),
                .init("revoked", "revoked"), .init("last seen", "lastSeenAt", .time), .init("topics", "topics"),
            ]
        )
    }
}
