import ArgumentParser
import Foundation

struct NotificationWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Follow a notification until it is done or cancelled.",
        discussion: """
            On a terminal it is a bar with rate and time left, elsewhere a line whenever something has changed, with \
            --json the whole answer. The status is 0 if every push was accepted, 1 if not.

            Example: martlet notification watch 9e1c…
            """
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var notification: NotificationArgument

    @Option(help: "Seconds between two looks.")
    var interval: Double = 1

    func validate() throws {
        guard (0.1...3600).contains(self.interval) else { throw ValidationError("--interval is 0.1 to 3600 seconds.") }
    }

    func run() async throws {
        let call = try self.provider.call(try await self.provider.settings())
        let request = APIRequest(.get, ["notifications", self.notification.id])
        let status = StatusLine()
        // A bar and lines in the same place would be in each other's way.
        let hasBar = !self.provider.json && status.isShown && isatty(STDOUT_FILENO) == 1
        var last: String?
        while true {
            let answer = try await ProviderAccess.answer(request, from: call)
            let text = self.provider.json ? try answer.line : NotificationProgressText.of(answer)
            let hasEnded = ["done", "cancelled"].contains(answer["state"].stringValue)
            if hasBar && !hasEnded {
                status.show(text)
            } else if text != last {
                if hasBar { status.clear() }
                guard StandardOutput.line(text) else { throw ExitCode.failure }
            }
            last = text
            if hasEnded {
                let isGood = answer["state"].stringValue == "done" && NotificationCounts(answer).allAccepted
                guard isGood else { throw ExitCode.failure }
                return
            }
            try await Task.sleep(for: .seconds(self.interval))
        }
    }
}
