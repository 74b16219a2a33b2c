import ArgumentParser

struct NotificationPauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Stop it after the pages in flight; 'resume' goes on there.",
        discussion: "Example: martlet notification pause 9e1c…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var notification: NotificationArgument

    func run() async throws { try await self.provider.change(self.notification, "pause") }
}

struct NotificationResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Go on where it was paused.",
        discussion: "Example: martlet notification resume 9e1c…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var notification: NotificationArgument

    func run() async throws { try await self.provider.change(self.notification, "resume") }
}

struct NotificationCancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Stop it for good; what was sent stays sent.",
        discussion: "Example: martlet notification cancel 9e1c…"
    )

    @OptionGroup var provider: ProviderAccess
    @OptionGroup var notification: NotificationArgument

    func run() async throws { try await self.provider.change(self.notification, "cancel") }
}

extension ProviderAccess {
    fileprivate func change(_ notification: NotificationArgument, _ action: String) async throws {
        let request = APIRequest(.post, ["notifications", notification.id], action: action)
        try await self.show(request, NotificationProgressText.of)
    }
}
