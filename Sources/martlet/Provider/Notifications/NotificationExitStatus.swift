import PushSupport

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

    /// Indicates that every push that could be sent was accepted. A skipped recipient is not a failure, and an unknown one is
    /// not a success.
    var allAccepted: Bool { self.rejected == 0 && self.failed == 0 && self.unknown == 0 }
}

extension JSONValue {
    /// Indicates that this notification does not change any more.
    var hasEnded: Bool { ["done", "cancelled"].contains(self["state"].stringValue) }

    /// Indicates that this notification is done and every push that could be sent was accepted.
    var isDoneAndAccepted: Bool { self["state"].stringValue == "done" && NotificationCounts(self).allAccepted }

    /// Indicates that the response to the sending of this notification warns that no device matches.
    var reachesNobody: Bool { self["warnings"].elements.contains { $0["field"].stringValue == "to" } }

    /// The exit status of a command that waits for the end of this notification.
    var exitStatus: ExitStatus {
        guard self.isDoneAndAccepted else { return .failed }
        return NotificationCounts(self).accepted == 0 ? .nobodyReached : .done
    }
}
