import PushSupport

/// The progress of a notification in one line.
enum NotificationProgressText {
    /// The texts about what a notification waits for, by the API's code for the cause.
    private static let causes = [
        "start": "waiting for its time", "localTime": "waiting for the next time zone",
        "window": "waiting for its hours", "wave": "between two waves",
        "downloads": "the next wave waits for downloads to end",
        "bandwidth": "the next wave waits for the downloads' bandwidth",
        "figures": "the next wave waits for the figures of downloads", "pushService": "the push service needs a pause",
        "retry": "the next retry waits", "environment": "its environment is paused, the next probe waits",
    ]

    /// Returns the line with the state, a progress bar, and the counts of all outcomes but success.
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

    /// Reads the counters of a notification; missing ones are 0.
    init(_ notification: JSONValue) {
        func count(_ name: String) -> Int { notification["counters"][name].integerValue.map { Int(clamping: $0) } ?? 0 }
        (self.accepted, self.rejected) = (count("accepted"), count("rejected"))
        (self.failed, self.skipped) = (count("failed"), count("skipped"))
        (self.unknown, self.retrying) = (count("unknown"), count("retrying"))
    }

    /// The number of recipients in a final state.
    var finished: Int { [self.accepted, self.rejected, self.failed, self.skipped, self.unknown].reduce(0, &+) }

    /// Indicates that every push that could be sent was accepted. A skipped recipient is not a failure, and an unknown one is
    /// not a success.
    var allAccepted: Bool { self.rejected == 0 && self.failed == 0 && self.unknown == 0 }
}

extension JSONValue {
    /// Indicates that this notification does not change any more.
    var hasEnded: Bool { ["done", "cancelled"].contains(self["state"].stringValue) }

    /// Indicates that this notification is done and every push that could be sent was accepted.
    var isDoneAndAccepted: Bool { self["state"].stringValue == "done" && NotificationCounts(self).allAccepted }

    /// Indicates that the response for the accepted notification warns that no device matches.
    var reachesNobody: Bool { self["warnings"].elements.contains { $0["field"].stringValue == "to" } }

    /// The exit status of a command that waits for the end of this notification.
    var exitStatus: ExitStatus {
        guard self.isDoneAndAccepted else { return .failed }
        return NotificationCounts(self).accepted == 0 ? .nobodyReached : .done
    }
}

/// The text about the numbers of a notification's receipts.
enum ReceiptText {
    /// Returns the numbers of installations by reported event, such as `12 shown, 3 opened`; `nil` if there are none.
    static func of(_ notification: JSONValue) -> String? {
        let counts = notification["receiptCounts"].elements
        guard !counts.isEmpty else { return nil }
        return counts.map { "\($0["unique"].plainText) \($0["event"].plainText)" }.joined(separator: ", ").printable
    }

    /// Returns a line for each reported event, with the numbers of its actions.
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
