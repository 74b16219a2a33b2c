import ArgumentParser

struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification",
        abstract: "What a provider sends: rehearse, send, follow, stop, look up.",
        discussion: """
            'martlet send' makes a notification from options; 'martlet notification send' takes the whole request, with \
            everything that docs/content.md has.

            Example: martlet notification watch 9e1c…
            """,
        subcommands: [
            NotificationListCommand.self, NotificationShowCommand.self, NotificationPreviewCommand.self,
            NotificationSendCommand.self, NotificationWatchCommand.self, NotificationPauseCommand.self,
            NotificationResumeCommand.self, NotificationCancelCommand.self, NotificationDeliveriesCommand.self,
            NotificationFindCommand.self,
        ]
    )
}

/// A notification as an argument.
struct NotificationArgument: ParsableArguments {
    @Argument(help: "The notification's id.")
    var id: String
}
