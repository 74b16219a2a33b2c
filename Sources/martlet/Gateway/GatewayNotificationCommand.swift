import ArgumentParser

struct GatewayNotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "What became of one notification.",
        discussion: "Example: martlet gateway notification EC1BF194-B3B2-424A-89A9-5A918A6E6B5D"
    )

    @OptionGroup var admin: AdminOptions

    @Argument(help: "Its apns-id, or the apns-request-id of a broadcast.")
    var apnsID: String

    func run() async throws {
        try await self.admin.show(APIRequest(.get, ["notifications", self.apnsID])) { answer in
            let state = answer["state"].stringValue?.printable ?? ""
            let events = TextTable(EventText.columns, answer["events"].elements).text
            return "\(state)\n\n\(events)"
        }
    }
}
