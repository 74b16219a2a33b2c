import ArgumentParser
import PushSupport

/// `martlet notification resend`: sends a notification again to the recipients that failed.
struct NotificationResendCommand: AsyncParsableCommand {
    static let configuration = command("resend", "Send a notification again, to exactly the recipients that failed.")
        .detail(
            "Prints the id of the new notification. The same command prints the same id again: to try once more, resend"
        )
        .detail("the new one. Recipients whose token is at fault are left out unless --reason names theirs.")
        .example("notification resend 9e1c… --expires-in 6h")

    @OptionGroup var resource: ResourceOptions<ProviderNotification>
    @Option(
        help:
            "rejected, failed or unknown (sent, but the response was lost); repeat it. Default: the first two."
    ) var state: [String] = []
    @Option(help: "Only those with this reason; repeat it for several.") var reason: [String] = []
    @Option(help: "How long it is worth delivering, such as 6h; default: as for the first notification.")
    var expiresIn: String?
    @Option(help: "A name by which to find the notification; default: that of the first.") var name: String?
    @Option(help: "A key that sends the same notification only once when repeated; default: one made from the request.")
    var idempotencyKey: String?

    func run() async throws {
        var request = self.resource.request(.post).action("resend").body([
            "states": .texts(self.state), "reasons": .texts(self.reason), "expiresIn": self.expiresIn?.json,
            "name": self.name?.json,
        ])
        if let key = self.idempotencyKey { request = request.idempotencyKey(key) }
        let response = try await self.resource.connection().send(request)
        try self.resource.print(response) { $0["id"].stringValue ?? "" }
    }
}
