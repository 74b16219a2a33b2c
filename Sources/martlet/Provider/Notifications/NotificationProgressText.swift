import PushSupport

/// The progress of a notification in one line.
enum NotificationProgressText {
    /// The causes of waiting in words.
    private static let causes = [
        "start": "waiting for its time", "localTime": "waiting for the next time zone",
        "window": "waiting for its hours", "wave": "between two waves",
        "downloads": "the next wave waits for downloads to end",
        "bandwidth": "the next wave waits for the downloads' bandwidth",
        "figures": "the next wave waits for the figures of downloads", "pushService": "the push service needs a pause",
        "retry": "the next retry waits", "environment": "its environment is paused, the next probe waits",
    ]

    /// Returns the line: the state, a bar, and the counts of everything but success.
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

/// The counters of a notification.
struct NotificationCounts {
    let accepted, rejected, failed, skipped, unknown, retrying: Int

    /// Reads the counters of a notification; those that are missing are 0.
    init(_ notification: JSONValue) {
        func count(_ name: String) -> Int { notification["counters"][name].integerValue.map { Int(clamping: $0) } ?? 0 }
        (self.accepted, self.rejected) = (count("accepted"), count("rejected"))
        (self.failed, self.skipped) = (count("failed"), count("skipped"))
        (self.unknown, self.retrying) = (count("unknown"), count("retrying"))
    }

    /// The number of recipients in a final state.
    var finished: Int { [self.accepted, self.rejected, self.failed, self.skipped, self.unknown].reduce(0, &+) }

    /// Indicates whether everything that could be sent was accepted. A skipped recipient is no failure; an
    /// unknown one is no success.
    var allAccepted: Bool { self.rejected == 0 && self.failed == 0 && self.unknown == 0 }
}
