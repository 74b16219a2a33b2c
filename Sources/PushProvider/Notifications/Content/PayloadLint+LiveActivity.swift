import PushSupport
import PushTypes

extension PayloadLint {
    /// 2001 to 2100: a number outside is in other units, or a duration.
    private static let moments = 1_000_000_000.0...4_102_444_800.0

    /// Reference 3.4.
    mutating func checkLiveActivity(_ aps: [String: JSONValue]) throws(RequestError) {
        guard let event = aps["event"] else {
            throw self.refusal(["aps", "event"], "missing_field", "a Live Activity push says start, update or end")
        }
        guard case .string(let event) = event, ["start", "update", "end"].contains(event) else {
            throw self.refusal(["aps", "event"], "invalid_value", "use start, update or end")
        }
        guard aps["timestamp"] != nil else {
            throw self.refusal(
                ["aps", "timestamp"],
                "missing_field",
                "say of which moment this is the state, in UNIX seconds"
            )
        }
        try self.checkMoments(aps)
        if aps["content-state"] == nil {
            guard event == "end" else {
                throw self.refusal(["aps", "content-state"], "missing_field", "say what is to be shown")
            }
            self.warn(["aps", "content-state"], "without a final state the activity ends as it was last")
        }
        if event == "start" { try self.checkStart(aps) }
        self.warnAboutEvent(event, aps)
        if aps["sound"] != nil { self.warn(["aps", "sound"], "in a Live Activity the sound stands inside the alert") }
        if self.priority == .immediate, event == "update", aps["alert"] == nil {
            self.warn(["aps"], "priority 10 counts against an hourly budget: use 5 for what can wait")
        }
    }

    private func checkMoments(_ aps: [String: JSONValue]) throws(RequestError) {
        for name in ["timestamp", "stale-date", "dismissal-date"] {
            guard let seconds = aps[name]?.double else { continue }
            // A dismissal date in the past, even 0, removes the activity at once.
            let isPast = name == "dismissal-date" && seconds >= 0 && seconds < Self.moments.lowerBound
            guard isPast || Self.moments.contains(seconds) else {
                let message = "it is a moment in UNIX seconds, not in milliseconds and not a duration"
                throw self.refusal(["aps", name], "invalid_value", message)
            }
        }
    }

    private mutating func checkStart(_ aps: [String: JSONValue]) throws(RequestError) {
        for name in ["attributes-type", "attributes"] where aps[name] == nil {
            throw self.refusal(["aps", name], "missing_field", "starting a Live Activity needs it")
        }
        guard Self.hasText(aps["alert"]) else {
            throw self.refusal(["aps", "alert"], "missing_field", "starting a Live Activity needs an alert")
        }
        if aps["input-push-channel"] != nil {
            self.warn(["aps", "input-push-channel"], "devices before iOS 18 do not start this activity")
            if aps["input-push-token"] != nil {
                self.warn(["aps", "input-push-token"], "an activity listens to a channel or has a token, not both")
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
            self.warn(["aps", "dismissal-date"], "only an end is dismissed")
        }
    }
}
