import ArgumentParser
import Foundation

/// `martlet notification watch`: follows a notification.
struct NotificationWatchCommand: AsyncParsableCommand {
    static let configuration = command("watch", "Follow a notification until it is done or cancelled.")
        .detail(
            """
            On a terminal it is a bar with rate and time left, elsewhere a line whenever something has changed, with \
            --json the whole response.
            """
        )
        .detail("The status is 0 if every push was accepted, 1 if not, 3 if nobody was reached.")
        .example("notification watch 9e1c…")

    @OptionGroup var resource: ResourceOptions<ProviderNotification>
    @Option(help: "Seconds between two requests.") var interval: Double = 1

    func validate() throws {
        guard (0.1...3600).contains(self.interval) else { throw ValidationError("--interval is 0.1 to 3600 seconds.") }
    }

    func run() async throws {
        let connection = try await self.resource.connection()
        let status = StatusLine()
        // A bar on standard error and lines on the same terminal would overwrite each other.
        let hasBar = !self.resource.json && status.isShown && isatty(STDOUT_FILENO) == 1
        var last: String?
        while true {
            let response = try await connection.send(self.resource.request(.get))
            let text = self.resource.json ? try response.line : NotificationProgressText.of(response)
            if hasBar && !response.hasEnded {
                status.show(text)
            } else if text != last {
                if hasBar { status.clear() }
                guard StandardOutput.line(text) else { throw ExitCode.failure }
            }
            last = text
            if response.hasEnded {
                if response.exitStatus == .done { return }
                throw ExitCode(response.exitStatus.rawValue)
            }
            try await Task.sleep(for: .seconds(self.interval))
        }
    }
}
