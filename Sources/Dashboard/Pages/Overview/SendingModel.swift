import PushSupport
import WebPages

/// The campaigns in progress, as the template `sending` shows them.
enum SendingModel {
    /// Returns the rows, and the number of those that are being sent.
    ///
    /// - Parameters:
    ///   - campaigns: The notifications, as the API lists them.
    ///   - showsApp: Whether they are of several apps.
    static func model(_ campaigns: [JSONValue], _ request: PageRequest, showsApp: Bool) -> (PageModel, count: Int64) {
        let count = campaigns.count { $0["state"].stringValue == "sending" }
        return (["sending": campaigns.map { self.row($0, request) }, "showsApp": showsApp], Int64(count))
    }

    /// Returns the values of a notification in a list.
    static func row(_ notification: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(notification)
        let app = notification["app"].stringValue ?? ""
        let id = notification["id"].stringValue ?? ""
        let state = notification["state"].stringValue ?? ""
        let counters = notification["counters"]
        let done = ["accepted", "rejected", "failed", "skipped", "unknown"].reduce(0.0) { sum, name in
            sum + (counters[name].numberValue ?? 0)
        }
        let all = max(notification["recipients"].numberValue ?? 0, done)
        model["name"] = NotificationName.of(notification)
        model["appPath"] = "\(Dashboard.root)\(PageRequest.appPath(app))"
        model["path"] = "\(Dashboard.root)\(PageRequest.appPath(app))/notifications/\(FormText.encoded(id))"
        model["stateLabel"] = StateLabel.model(state == "accepted" ? "due" : state, request.texts)
        model["done"] = PageNumber(value: done)
        model["all"] = PageNumber(value: max(1, all))
        model["hasTotal"] = all > 0
        for name in ["ratePerSecond", "secondsLeft", "waitingFor", "pauseReason"] where model[name] == nil {
            model[name] = false
        }
        if let cause = notification["waitingFor"].stringValue {
            model["waitingFor"] = request.texts.text("overview.waitingFor.\(cause)") ?? cause
        }
        return model
    }
}
