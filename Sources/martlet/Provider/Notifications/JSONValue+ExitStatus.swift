import PushSupport

extension JSONValue {
    /// A value that is true once this notification does not change any more.
    var hasEnded: Bool { ["done", "cancelled"].contains(self["state"].stringValue) }

    /// Indicates whether this notification is done and everything that could be sent was accepted.
    var isDoneAndAccepted: Bool { self["state"].stringValue == "done" && NotificationCounts(self).allAccepted }

    /// Indicates whether the response to the sending of this notification warns that no device matches.
    var reachesNobody: Bool { self["warnings"].elements.contains { $0["field"].stringValue == "to" } }

    /// The exit status of a command that has waited for the end of this notification.
    var exitStatus: ExitStatus {
        guard self.isDoneAndAccepted else { return .failed }
        return NotificationCounts(self).accepted == 0 ? .nobodyReached : .done
    }
}
