import Foundation
import PushDevice
import ServiceLifecycle

/// Prints a device's tokens to standard error, then each notification to standard output; or the tokens alone, to the
/// latter.
struct NotificationPrinter: Service {
    let device: Device
    /// The topics whose device tokens are printed.
    let topics: [String]
    let channels: [FollowedChannel]
    /// The file that keeps the tokens and channels for the next run.
    let file: IdentityFile
    let asJSON: Bool
    /// Indicates that only the tokens are wanted.
    let endsAfterTokens: Bool

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await self.printAll() }
        } catch is CancellationError {
            // Ctrl-C may come while a token is awaited.
        }
    }

    private func printAll() async throws {
        for topic in self.topics {
            let token = try await self.device.deviceToken(for: topic)
            if self.endsAfterTokens {
                try StandardOutput.result(token)
            } else {
                StandardError.line("device token for \(topic): \(token)")
            }
        }
        for channel in self.channels { try await self.device.follow(channel: channel.id, of: channel.app) }
        try self.file.save(self.device.identity)
        guard !self.endsAfterTokens else { return }
        StandardError.line("waiting for notifications; Ctrl-C ends")
        for await notification in self.device.notifications {
            let text = self.asJSON ? try NotificationText.json(notification) : NotificationText.plain(notification)
            StandardOutput.line(text)
        }
    }
}
