import PushSupport
import PushTypes

extension PayloadLint {
    /// The timestamps from 2001 to 2100. A number outside is in other units, or a duration.
    private static let timestamps = 1_000_000_000.0...4_102_444_800.0

    /// Checks the members of a Live Activity (reference 3.4).
    mutating func checkLiveActivity(_ aps: [String: JSONValue]) throws(RequestError) {
        guard let event = aps["event"] else {
            throw self.error(
                ["aps", "event"],
                "missing_field",
                "a Live Activity push has the event start, update or end"
            )
        }
        guard case .string(let event) = event, ["start", "update", "end"].contains(event)
        else { throw self.error(["aps", "event"], "invalid_value", "use start, update or end") }
        guard aps["timestamp"] != nil else {
            throw self.error(
                ["aps", "timestamp"],
                "missing_field",
                "the timestamp of the state in UNIX seconds is required"
            )
        }
        try self.checkTimestamps(aps)
        if aps["content-state"] == nil {
            guard event == "end" else {
                throw self.error(["aps", "content-state"], "missing_field", "the state to show is required")
            }
            self.warn(["aps", "content-state"], "without a final state the activity ends with its last state")
        }
        if event == "start" { try self.checkStart(aps) }
        self.warnAboutEvent(event, aps)
        if aps["sound"] != nil { self.warn(["aps", "sound"], "in a Live Activity the sound belongs into the alert") }
        if self.priority == .immediate, event == "update", aps["alert"] == nil {
            self.warn(["aps"], "priority 10 counts against an hourly budget: use 5 for what can wait")
        }
    }

    private func checkTimestamps(_ aps: [String: JSONValue]) throws(RequestError) {
        for name in ["timestamp", "stale-date", "dismissal-date"] {
            guard let seconds = aps[name]?.double else { continue }
            // A dismissal date in the past, even 0, removes the activity at once.
            let isPast = name == "dismissal-date" && seconds >= 0 && seconds < Self.timestamps.lowerBound
            guard isPast || Self.timestamps.contains(seconds) else {
                let message = "it is a timestamp in UNIX seconds, not in milliseconds and not a duration"
                throw self.error(["aps", name], "invalid_value", message)
            }
        }
    }

    private mutating func checkStart(_ aps: [String: JSONValue]) throws(RequestError) {
        for name in ["attributes-type", "attributes"] where aps[name] == nil {
            throw self.error(["aps", name], "missing_field", "starting a Live Activity needs it")
        }
        guard Self.hasText(aps["alert"]) else {
            throw self.error(["aps", "alert"], "missing_field", "starting a Live Activity needs an alert")
        }
        if aps["input-push-channel"] != nil {
            self.warn(["aps", "input-push-channel"], "devices before iOS 18 do not start this activity")
            if aps["input-push-token"] != nil {
                self.warn(["aps", "input-push-token"], "an activity has a channel or a token, not both")
            }
        }
    }

    private mutating func warnAboutEvent(_ event: String, _ aps: [String: JSONValue]) {
        if event != "start" {
            for name in ["attributes", "attributes-type", "input-push-channel", "input-push-token"]
            where aps[name] != nil {
                self.warn(["aps", name], "only a start needs it")
            }
        }
        if event != "end", aps["dismissal-date"] != nil {
            self.warn(["aps", "dismissal-date"], "only the event end has a dismissal date")
        }
    }
}
