import PushSupport

/// The numbers of a notification's recipients, by the outcome of the push.
struct NotificationCounts {
    let accepted, rejected, failed, skipped, unknown, retrying: Int

    /// Reads the counters in a notification's JSON. Missing counters are 0.
    init(_ notification: JSONValue) {
        func count(_ name: String) -> Int { notification["counters"][name].integerValue.map { Int(clamping: $0) } ?? 0 }
        (self.accepted, self.rejected) = (count("accepted"), count("rejected"))
        (self.failed, self.skipped) = (count("failed"), count("skipped"))
        (self.unknown, self.retrying) = (count("unknown"), count("retrying"))
    }

    var finished: Int { [self.accepted, self.rejected, self.failed, self.skipped, self.unknown].reduce(0, &+) }

    /// A Boolean value that indicates whether every push that could be sent was accepted. Skipped recipients are
    /// disregarded, but an unknown outcome does not count as a success.
    var allAccepted: Bool { self.rejected == 0 && self.failed == 0 && self.unknown == 0 }
}

extension JSONValue {
    /// A Boolean value that indicates whether this notification, in JSON, has reached its final state.
    var hasEnded: Bool { ["done", "cancelled"].contains(self["state"].stringValue) }

    /// A Boolean value that indicates whether this notification, in JSON, is done and every push that could be sent was
    /// accepted.
    var isDoneAndAccepted: Bool { self["state"].stringValue == "done" && NotificationCounts(self).allAccepted }

    /// A Boolean value that indicates whether this response to a new notification warns that no device matches.
    var reachesNobody: Bool { self["warnings"].elements.contains { $0["field"].stringValue == "to" } }

    /// The exit status of a command that waits until this notification has finished.
    var exitStatus: ExitStatus {
        guard self.isDoneAndAccepted else { return .failed }
        return NotificationCounts(self).accepted == 0 ? .nobodyReached : .done
    }
}
