/// The exit statuses of the commands. `docs/commands.md`, help and manual pages show them as a table.
enum ExitStatus: Int32, CaseIterable {
    /// The status of a command that has succeeded.
    case done = 0
    /// The status of a command that has failed, for example because a request was rejected or a push was not accepted.
    case failed = 1
    /// The status of a command whose time limit passed while it waited for work of the server. The work continues.
    case unfinished = 2
    /// The status for a notification that had no recipients, or whose recipients were all skipped.
    case nobodyReached = 3
    /// The status for an invalid command line or setting. Nothing was done.
    case usage = 64
    /// The status of a command to which no server has responded.
    case unavailable = 69

    var meaning: String {
        switch self {
        case .done: "Everything was done; a notification that was waited for was accepted for every recipient."
        case .failed: "It failed: the server rejected the request, a file cannot be used, or a push was not accepted."
        case .unfinished: "The time of --wait-seconds, or of a simulator's wait, was over first; the rest goes on."
        case .nobodyReached: "The notification reached nobody: the audience is empty, or every recipient was skipped."
        case .usage: "An option or a setting is missing, unknown or wrong; nothing was done."
        case .unavailable: "No server responded."
        }
    }
}

/// An error with a specific exit status. After any other error, the command exits with ``ExitStatus/failed``.
protocol StatusError: Error, CustomStringConvertible {
    var status: ExitStatus { get }
}

/// An error whose description names the setting, the argument or the file to change.
struct SettingsError: StatusError {
    let description: String
    let status: ExitStatus

    init(_ description: String, status: ExitStatus = .failed) {
        (self.description, self.status) = (description, status)
    }
}
