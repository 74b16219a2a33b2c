import PushSupport

/// A notification's progress in one line.
enum NotificationProgressText {
    static func of(_ answer: JSONValue) -> String {
        let state = answer["state"].stringValue ?? "unknown"
        var parts: [String] = []
        switch state {
        case "scheduled": parts.append("scheduled for \(CellText.of(answer["startsAtMs"], .time))")
        case "paused": parts.append(answer["pauseReason"].stringValue.map { "paused, \($0)" } ?? state)
        default: parts.append(state)
        }
        let done = NotificationCounts(answer)
        let recipients = answer["recipients"].integerValue.flatMap(Int.init(exactly:))
        if done.finished > 0 || recipients ?? 0 > 0 {
            let isMoving = state == "sending" || state == "accepted"
            parts.append(
                ProgressText.of(
                    done: done.finished,
                    total: recipients,
                    rate: answer["ratePerSecond"].numberValue,
                    secondsLeft: isMoving ? answer["secondsLeft"].integerValue.flatMap(Int.init(exactly:)) : nil
                )
            )
        }
        let troubles = [
            ("rejected", done.rejected), ("failed", done.failed), ("skipped", done.skipped),
            ("retrying", done.retrying),
        ]
        parts += troubles.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return parts.joined(separator: "; ").printable
    }
}

/// The counters of a notification.
struct NotificationCounts {
    let accepted: Int
    let rejected: Int
    let failed: Int
    let skipped: Int
    let retrying: Int

    init(_ answer: JSONValue) {
        func count(_ name: String) -> Int {
            answer["counters"][name].integerValue.map { Int(clamping: $0) } ?? 0
        }
        (self.accepted, self.rejected) = (count("accepted"), count("rejected"))
        (self.failed, self.skipped, self.retrying) = (count("failed"), count("skipped"), count("retrying"))
    }

    /// Recipients with an outcome.
    var finished: Int {
        [self.accepted, self.rejected, self.failed, self.skipped].reduce(0, &+)
    }

    /// Whether everything that could be sent was accepted: a device that has left is no failure.
    var allAccepted: Bool { self.rejected == 0 && self.failed == 0 }
}
