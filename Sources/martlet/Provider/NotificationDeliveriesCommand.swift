import ArgumentParser

struct NotificationDeliveriesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliveries",
        abstract: "List what became of its recipients.",
        discussion: "Example: martlet notification deliveries 9e1c… --state rejected"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var notification: NotificationArgument
    @OptionGroup var shown: LimitOption

    @Option(help: "sending, accepted, rejected or failed.")
    var state: String?

    func run() async throws {
        try await self.provider.list(
            "deliveries",
            ["notifications", self.notification.id, "deliveries"],
            query: [("state", self.state)],
            limit: self.shown.limit,
            HistoryText.deliveries
        )
    }
}

struct NotificationFindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find",
        abstract: "Show the delivery that went out under an apns-id.",
        discussion: "Example: martlet notification find 3f1c…"
    )

    @OptionGroup var provider: ProviderAccess

    @Argument(help: "The apns-id.")
    var apnsID: String

    func run() async throws {
        try await self.provider.show(APIRequest(.get, ["deliveries", self.apnsID])) {
            TextTable.details(HistoryText.deliveries + [.init("device", "deviceId")], $0)
        }
    }
}
