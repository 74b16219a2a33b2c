import PushSupport
import WebPages

/// The state of a notification and its figures, as all lists and its own page show them.
struct NotificationSummary {
    /// The final states of recipients, by their names in the API.
    static let outcomes = ["accepted", "rejected", "failed", "skipped", "unknown"]

    private let notification: JSONValue
    private let texts: PageTexts
    private let format: PageFormat

    init(_ notification: JSONValue, texts: PageTexts, format: PageFormat) {
        (self.notification, self.texts, self.format) = (notification, texts, format)
    }

    /// The values of a template: those of the API, and state, progress and what is waited for in words.
    var model: PageModel {
        var model = PageValue.of(self.notification) as? PageModel ?? [:]
        let state = self.notification["state"].stringValue ?? ""
        model["title"] = self.title
        model["stateText"] = self.texts["notifications.states.\(state)"]
        model["stateKind"] = self.kind(state)
        model["finished"] = self.format.number(Double(self.finished))
        model["plainFinished"] = "\(self.finished)"
        model["plainRecipients"] = "\(max(self.recipients, self.finished, 1))"
        model["path"] = self.path
        model["appPath"] = self.appPath
        model["hasProgress"] = max(self.recipients, self.finished) > 0
        model["percent"] = self.recipients > 0 ? "\(self.finished * 100 / self.recipients) %" : "–"
        model["bad"] = self.format.number(Double(self.counter("rejected") + self.counter("failed")))
        model["hasBad"] = self.counter("rejected") + self.counter("failed") > 0
        model["isWaiting"] = state == "scheduled" || self.notification["nextAt"] != .null
        if let cause = self.notification["waitingFor"].stringValue {
            model["waitingText"] = self.texts["notifications.waiting.\(cause)"]
        }
        return model
    }

    var title: String { NotificationName.of(self.notification) }

    private var appPath: String {
        "\(Dashboard.root)\(PageRequest.appPath(self.notification["app"].stringValue ?? ""))"
    }

    private var path: String {
        "\(self.appPath)/notifications/\(FormText.encoded(self.notification["id"].stringValue ?? ""))"
    }

    func counter(_ name: String) -> Int64 { self.notification["counters"][name].integerValue ?? 0 }

    var recipients: Int64 { self.notification["recipients"].integerValue ?? 0 }

    /// The recipients with a final state.
    var finished: Int64 { Self.outcomes.reduce(0) { $0 + self.counter($1) } }

    private func kind(_ state: String) -> String {
        switch state {
        case "done":
            self.counter("accepted") == 0 && self.counter("rejected") + self.counter("failed") > 0 ? "bad" : "good"
        case "sending", "accepted": "run"
        case "scheduled": "wait"
        case "paused": "warn"
        default: "bad"
        }
    }
}
