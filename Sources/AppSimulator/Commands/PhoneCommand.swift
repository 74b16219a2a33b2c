package import MartletKit

/// A command to the simulated phone, as one line of standard input or of a script.
package enum PhoneCommand: Hashable, Sendable {
    /// Prints the list, the badge and the Live Activities.
    case list
    /// Prints the installation, its user and what waits to be sent.
    case status
    /// Opens the app with a notification; `nil` for the newest.
    case open(Int?)
    /// Clears a notification; `nil` for the newest.
    case dismiss(Int?)
    /// Chooses an action of a notification, with a text for one that asks for it.
    case action(Int, id: String, text: String?)
    /// Does what a notification was sent for, after it was opened.
    case convert(name: String?)
    case background
    case foreground
    /// Sets the number on the app's icon, as the app may.
    case badge(Int)
    /// Enters the company's account with a proof of the user.
    case login(proof: String)
    /// Leaves the company's account.
    case logout
    /// Removes the app and installs it again.
    case reinstall
    /// Refuses the notifications of a category, or accepts them again.
    case optOut(String), optIn(String)
    /// Sets the quiet hours; `nil` for none.
    case quiet(NotificationPreferences.QuietHours?)
    /// Takes a permission from the app, or gives it.
    case deny(Capabilities), allow(Capabilities)
    /// Sends what waits to be sent.
    case flush
    /// Waits for events of one name that no wait has counted yet.
    case wait(SimulatorEvent.Name, count: Int, seconds: Int)
    /// Keeps running until the process is interrupted.
    case stay
    case help
    case quit

    /// The time of a wait that names none, in seconds.
    package static let defaultWait = 30
    /// The longest time of a wait, in seconds.
    package static let longestWait = 3600

    /// One line of the help.
    package struct Usage: Sendable {
        package let words: String
        package let meaning: String
    }

    /// The commands in the order of the help.
    package static let usage: [Usage] = [
        .init(words: "list", meaning: "the notifications on the lock screen, by thread, the badge and Live Activities"),
        .init(words: "open [N]", meaning: "opens notification N, or the newest"),
        .init(words: "dismiss [N]", meaning: "clears notification N, or the newest"),
        .init(
            words: "action N ID [TEXT]",
            meaning: "chooses an action of notification N, with a text if it asks for one"
        ),
        .init(words: "convert [NAME]", meaning: "does what the notification that was opened last was sent for"),
        .init(words: "background", meaning: "leaves the app"),
        .init(words: "foreground", meaning: "returns to the app"),
        .init(words: "badge N", meaning: "the app sets the number on its icon"),
        .init(words: "login USER-PROOF", meaning: "signs in to the company's account"),
        .init(words: "logout", meaning: "signs out of the company's account"),
        .init(words: "reinstall", meaning: "removes the app and installs it again: another installation and token"),
        .init(words: "optout CATEGORY", meaning: "refuses the notifications of a category"),
        .init(words: "optin CATEGORY", meaning: "accepts them again"),
        .init(words: "quiet FROM TO", meaning: "quiet hours such as 22:00 07:00; 'quiet off' ends them"),
        .init(words: "deny alerts|badge|sound|background", meaning: "withdraws a permission of the app"),
        .init(words: "allow alerts|badge|sound|background", meaning: "gives it"),
        .init(
            words: "wait EVENT [COUNT [SECONDS]]",
            meaning: "waits for events that no earlier wait has counted; default: 1 within 30 s"
        ),
        .init(words: "flush", meaning: "sends what waits to be sent to the provider"),
        .init(words: "status", meaning: "the installation, its token, and what waits to be sent"),
        .init(words: "stay", meaning: "keeps running until Ctrl-C, for a script"),
        .init(words: "quit", meaning: "sends what waits to be sent and ends"),
    ]

    /// The text of `help`.
    package static var helpText: String {
        CommandScanner.helpText(of: self.usage, events: SimulatorEvent.Name.ofPhones)
    }
}
