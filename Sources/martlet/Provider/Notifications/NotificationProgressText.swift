import PushSupport

/// Formats the progress of a notification as one line.
enum NotificationProgressText {
    /// The descriptions of the causes for which a notification waits, by their names in the API.
    private static let causes = [
        "start": "waiting for its time", "localTime": "waiting for the next time zone",
        "window": "waiting for its hours", "wave": "between two waves",
        "downloads": "the next wave waits for downloads to end",
        "bandwidth": "the next wave waits for the downloads' bandwidth",
        "figures": "the next wave waits for the figures of downloads", "pushService": "the push service needs a pause",
        "retry": "the next retry waits", "environment": "its environment is paused, the next probe waits",
    ]

    /// Returns the line for a notification: the state, a progress bar, and the counts of all outcomes except success.
    static func of(_ notification: JSONValue) -> String {
        let state = notification["state"].stringValue ?? "unknown"
        var parts: [String] = []
        switch state {
        case "scheduled": parts.append("scheduled for \(notification["startsAtMs"].timeText)")
        case "paused": parts.append(notification["pauseReason"].stringValue.map { "paused, \($0)" } ?? state)
        default: parts.append(state)
        }
        let counts = NotificationCounts(notification)
        let recipients = notification["recipients"].integerValue.flatMap(Int.init(exactly:))
        if counts.finished > 0 || recipients ?? 0 > 0 {
            let isMoving = state == "sending" || state == "accepted"
            let secondsLeft = notification["secondsLeft"].integerValue.flatMap(Int.init(exactly:))
            parts.append(
                ProgressText.of(
                    done: counts.finished,
                    total: recipients,
                    rate: notification["ratePerSecond"].numberValue,
                    secondsLeft: isMoving ? secondsLeft : nil
                )
            )
        }
        let cause = notification["waitingFor"].stringValue.flatMap { Self.causes[$0] }
        if state != "scheduled", notification["nextAtMs"] != .null {
            parts.append("\(cause ?? "waiting") until \(notification["nextAtMs"].timeText)")
        } else if state != "scheduled", let cause {
            parts.append(cause)
        }
        let troubles = [
            ("rejected", counts.rejected), ("failed", counts.failed), ("skipped", counts.skipped),
            ("unknown", counts.unknown), ("retrying", counts.retrying),
        ]
        parts += troubles.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        if let receipts = ReceiptText.of(notification) { parts.append(receipts) }
        if let faults = EnvironmentStateText.faults(notification) { parts.append(faults) }
        return parts.joined(separator: "; ").printable
    }
}

/// Formats the numbers of a notification's receipts.
enum ReceiptText {
    /// Returns the numbers of installations by event, such as `12 shown, 3 opened`, or `nil` if there are none.
    static func of(_ notification: JSONValue) -> String? {
        let counts = notification["receiptCounts"].elements
        guard !counts.isEmpty else { return nil }
        return counts.map { "\($0["unique"].plainText) \($0["event"].plainText)" }.joined(separator: ", ").printable
    }

    /// Returns a line with the numbers for each kind of event and for its actions.
    static func lines(_ notification: JSONValue) -> [String] {
        notification["receiptCounts"].elements.map { count in
            var text = "\(count["event"].plainText): \(Self.numbers(count))"
            let actions = count["actions"].elements.map { "\($0["action"].plainText) \(Self.numbers($0))" }
            if !actions.isEmpty { text += " (\(actions.joined(separator: ", ")))" }
            return text.printable
        }
    }

    private static func numbers(_ count: JSONValue) -> String {
        "\(count["unique"].plainText) unique, \(count["total"].plainText) in total"
    }
}
