import ArgumentParser
import Foundation
import PushSupport
import PushTypes

/// `martlet device reactivate`: undoes deactivations of tokens.
struct DeviceReactivateCommand: AsyncParsableCommand {
    static let configuration = command("reactivate", "Make devices active again that were deactivated by mistake.")
        .detail("Changes only devices that have been inactive since then, with the same token.")
        .detail("Without --yes it counts them and changes nothing.")
        .example(
            """
            device reactivate --app com.example.MyApp --since 2026-11-22T10:00:00Z --reason DeviceTokenNotForTopic --yes
            """
        )

    @OptionGroup var access: AppOptions
    @Option(help: "Deactivations from this time on, as 2026-12-01T08:00:00Z.") var since: String
    @Option(help: "Deactivations before this time. Default: now.") var until: String?
    @Option(help: "Only those with this reason of the push service, such as BadDeviceToken.") var reason: String?
    @Option(help: "Only those caused by pushes of the notification with this id.") var notification: String?
    @Option(help: "sandbox or production. Default: both.") var environment: PushEnvironment?
    @Flag(help: "Count them and change nothing, as without --yes.") var dryRun = false
    @Flag(help: "Change them.") var yes = false

    func validate() throws {
        guard !(self.dryRun && self.yes) else { throw ValidationError("Give --dry-run or --yes, not both.") }
    }

    private func request() -> APIRequest {
        .post(RegisteredDevice.path).action("reactivate").body([
            "from": self.since.json, "to": self.until?.json, "reason": self.reason?.json,
            "notification": self.notification?.json, "environment": self.environment?.rawValue.json,
            "dryRun": self.yes ? nil : true.json,
        ])
    }

    func run() async throws {
        let connection = try await self.access.connection()
        var (response, devices) = (JSONValue.null, Int64(0))
        // A response to a great many devices is not complete: the same request continues.
        repeat {
            response = try await connection.send(self.request())
            devices += response["devices"].integerValue ?? 0
        } while response["complete"] == false
        let total = devices
        try self.access.print(["devices": .integer(total), "dryRun": response["dryRun"]]) { _ in
            self.yes
                ? "\(total) devices are active again"
                : "\(total) devices would be active again; repeat it with --yes"
        }
    }
}
