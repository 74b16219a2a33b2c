import PushSupport
import WebPages

/// The deliveries and the token events of a device or a user, as the template `history` shows them.
enum HistoryModel {
    /// Returns the variables of a page of history.
    ///
    /// - Parameter path: The path of the page.
    static func model(_ history: JSONValue, _ request: PageRequest, path: String) async throws -> PageModel {
        let deliveries = history["deliveries"].elements
        let names = try await self.names(of: deliveries, request)
        var model: PageModel = [
            "deliveries": deliveries.map { self.delivery($0, names, request) },
            "tokenEvents": history["tokenEvents"].elements.map { self.event($0, request) },
        ]
        model["pager"] = request.pager(history["next"], path: path)
        return model
    }

    /// Returns the values of a delivery in a list: its state, the reason in plain words, and the link to its timeline.
    static func delivery(_ delivery: JSONValue, _ names: [String: String], _ request: PageRequest) -> PageModel {
        var model = PageValue.members(delivery)
        let notification = delivery["notification"].stringValue ?? ""
        let apnsID = delivery["apnsId"].stringValue ?? ""
        model["path"] = "\(Dashboard.root)\(request.appPath)/deliveries/\(FormText.encoded(apnsID))"
        model["name"] = names[notification] ?? "\(notification.prefix(8))…"
        model["stateLabel"] = StateLabel.model(delivery["state"].stringValue ?? "", request.texts)
        let reason = delivery["reason"].stringValue ?? ""
        model["reason"] = reason.isEmpty ? false : reason
        model["explanation"] = ReasonText.explanation(reason, request.texts) ?? false
        model["environment"] = delivery["environment"].stringValue ?? ""
        model["token"] = delivery["token"].stringValue ?? ""
        return model
    }

    /// Returns the values of a token event in a list.
    static func event(_ event: JSONValue, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(event)
        let token = event["token"].stringValue ?? ""
        model["stateLabel"] = StateLabel.model(event["action"].stringValue ?? "", request.texts)
        model["path"] = "\(Dashboard.root)\(request.appPath)/devices/\(token)"
        model["shortToken"] = DeviceModel.short(token)
        let reason = event["reason"].stringValue ?? ""
        model["reason"] = reason.isEmpty ? false : reason
        model["explanation"] = ReasonText.explanation(reason, request.texts) ?? false
        model["notificationPath"] =
            event["notification"].stringValue.map { "\(Dashboard.root)\(request.appPath)/notifications/\($0)" } ?? false
        return model
    }

    /// Returns what notifications are called: by their name, or by the title of their alert.
    private static func names(of deliveries: [JSONValue], _ request: PageRequest) async throws -> [String: String] {
        var names: [String: String] = [:]
        for id in Set(deliveries.compactMap { $0["notification"].stringValue }) {
            let call = APICall.get("/v1/notifications/\(FormText.encoded(id))")
            guard let notification = try? await request.call(call, isNoted: false) else { continue }
            names[id] = NotificationName.of(notification)
        }
        return names
    }
}

/// The words by which people know a notification.
enum NotificationName {
    /// Returns the name, the title or the text of a notification; else its kind and the beginning of its id.
    static func of(_ notification: JSONValue) -> String {
        let alert = notification["content"]["alert"]
        let texts = [notification["name"], alert["title"], alert, alert["body"]].compactMap(\.stringValue)
        if let text = texts.first(where: { !$0.isEmpty }) { return String(text.prefix(80)) }
        return "\(notification["pushType"].stringValue ?? "") \((notification["id"].stringValue ?? "").prefix(8))…"
    }
}
