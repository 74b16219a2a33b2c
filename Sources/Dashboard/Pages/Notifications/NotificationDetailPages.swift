import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The page of one notification: its progress, its content, its deliveries, and what can be done with it.
struct NotificationDetailPages: PageArea {
    private static let states = NotificationSummary.outcomes + ["sending"]
    /// The deliveries of a page.
    private static let count = 50
    /// The deliveries whose reasons are counted.
    private static let counted = 1000

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/notifications/{notification}", self.show),
            .get("/apps/{app}/notifications/{notification}/live", self.live),
            .post("/apps/{app}/notifications/{notification}/pause", { try await self.change("pause", $0) }),
            .post("/apps/{app}/notifications/{notification}/resume", { try await self.change("resume", $0) }),
            .post("/apps/{app}/notifications/{notification}/cancel", { try await self.change("cancel", $0) }),
            .post("/apps/{app}/notifications/{notification}/resend", self.resend),
        ]
    }

    // MARK: Pages

    private func show(_ request: PageRequest) async throws -> Response { try await self.page(request) }

    private func page(_ request: PageRequest, error: RequestError? = nil) async throws -> Response {
        let notification = try await self.notification(request)
        let summary = NotificationSummary(notification, texts: request.texts, format: request.format)
        var model = self.progress(notification, request)
        model["path"] = self.path(request)
        model["again"] = "\(Dashboard.root)\(request.appPath)/notifications/new?from=\(self.id(request))"
        model["maySend"] = request.may(.send)
        model["audience"] = notification["to"].line
        model["facts"] = self.facts(notification, request)
        if !Self.hasEnded(notification) { model["live"] = "\(self.path(request))/live" }
        let receipts = notification["receiptCounts"].elements
        (model["receipts"], model["hasReceipts"]) = (receipts.compactMap { PageValue.of($0) }, !receipts.isEmpty)
        self.addContent(of: notification, to: &model, request)
        try await self.addDeliveries(to: &model, request)
        if summary.counter("rejected") + summary.counter("failed") > 0 {
            model["reasons"] = try await self.reasons(request)
            model["hasReasons"] = true
            let isCut = ["rejected", "failed"].contains { summary.counter($0) > Self.counted }
            model["reasonsNote"] =
                isCut
                ? request.texts["notifications.reasonsOf", ["count": request.format.number(Double(Self.counted))]]
                : false
        }
        return request.page("notification", title: summary.title, model, error: error)
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live { request in
            let notification = try await self.notification(request)
            let summary = NotificationSummary(notification, texts: request.texts, format: request.format)
            return .init(
                html: request.part("notification-progress", self.progress(notification, request)),
                count: max(0, summary.recipients - summary.finished),
                isFinal: Self.hasEnded(notification)
            )
        }
    }

    // MARK: Changes

    private func change(_ name: String, _ request: PageRequest) async throws -> Response {
        _ = try await self.notification(request)
        do {
            let answer = try await request.call(.post("/v1/notifications/\(self.id(request)):\(name)"))
            return request.redirect(
                to: "\(request.appPath)/notifications/\(self.id(request))",
                done: name,
                after: answer
            )
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    private func resend(_ request: PageRequest) async throws -> Response {
        _ = try await self.notification(request)
        do {
            let sent = try await request.call(.post("/v1/notifications/\(self.id(request)):resend", .object([:])))
            return request.redirect(
                to: "\(request.appPath)/notifications/\(sent["id"].stringValue ?? "")",
                done: "sent"
            )
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    // MARK: Values

    /// Returns the notification that the path names.
    ///
    /// - Throws: ``RequestError``, also for one of another app.
    private func notification(_ request: PageRequest) async throws -> JSONValue {
        let notification = try await request.get("/v1/notifications/\(self.id(request))")
        guard notification["app"].stringValue == request.parameter("app") else {
            throw RequestError.noSuch("notification")
        }
        return notification
    }

    private func id(_ request: PageRequest) -> String { FormText.encoded(request.parameter("notification")) }

    private func path(_ request: PageRequest) -> String {
        "\(Dashboard.root)\(request.appPath)/notifications/\(self.id(request))"
    }

    private static func hasEnded(_ notification: JSONValue) -> Bool {
        ["done", "cancelled"].contains(notification["state"].stringValue ?? "")
    }

    /// Returns the values of the part that changes while the notification is sent, with its buttons.
    private func progress(_ notification: JSONValue, _ request: PageRequest) -> PageModel {
        let summary = NotificationSummary(notification, texts: request.texts, format: request.format)
        let state = notification["state"].stringValue ?? ""
        let left = max(0, summary.recipients - summary.finished)
        let failed = summary.counter("rejected") + summary.counter("failed")
        var model: PageModel = ["notification": summary.model, "path": self.path(request)]
        model["counters"] = Self.states.map { name -> PageModel in
            // A recipient that is tried again has no final state yet.
            let count = summary.counter(name == "sending" ? "retrying" : name)
            return [
                "name": request.texts["deliveries.states.\(name)"], "count": PageNumber(value: Double(count)),
                "kind": count == 0 ? "none" : Self.kind(name),
                "path": "\(self.path(request))?state=\(name)#deliveries",
            ]
        }
        guard request.may(.send) else { return model }
        model["mayPause"] = ["scheduled", "accepted", "sending"].contains(state)
        model["mayResume"] = state == "paused"
        model["mayCancel"] = !Self.hasEnded(notification)
        model["mayResend"] = Self.hasEnded(notification) && failed > 0
        model["left"] =
            state == "scheduled" ? request.texts["notifications.allLeft"] : request.format.number(Double(left))
        model["failed"] = request.format.number(Double(failed))
        return model
    }

    private static func kind(_ state: String) -> String {
        switch state {
        case "accepted": "good"
        case "rejected", "failed": "bad"
        case "skipped", "unknown": "warn"
        default: "wait"
        }
    }

    private func facts(_ notification: JSONValue, _ request: PageRequest) -> [PageModel] {
        let environment = notification["environment"].stringValue ?? "none"
        let texts = request.texts
        var facts = [
            ("environment", texts["compose.environmentOptions.\(environment)"]),
            ("pushType", notification["pushType"].stringValue ?? ""),
            ("priority", "\(notification["priority"].integerValue ?? 0)"),
        ]
        for name in ["collapseId", "consentCategory", "expiration"] {
            if let value = notification[name].stringValue { facts.append((name, value)) }
        }
        for name in ["when", "pace"] where notification[name] != .null { facts.append((name, notification[name].line)) }
        if let key = notification["key"]["name"].stringValue { facts.append(("by", key)) }
        facts.append(("id", notification["id"].stringValue ?? ""))
        return facts.map { ["name": texts["notifications.facts.\($0)"], "value": $1] }
    }

    private func addContent(of notification: JSONValue, to model: inout PageModel, _ request: PageRequest) {
        let payload = notification["content"]["payload"]
        guard payload != .null else { return }
        let type = notification["pushType"].stringValue.flatMap(PushType.init(rawValue:)) ?? .alert
        let topic = notification["topic"].stringValue ?? ""
        model["lock"] = LockScreen(payload: payload, type: type).model(topic: topic, texts: request.texts)
        model["json"] = payload.indented
        if case .object(let languages) = notification["content"]["localizations"] {
            model["languages"] = languages.keys.sorted().joined(separator: ", ")
        }
    }

    private func addDeliveries(to model: inout PageModel, _ request: PageRequest) async throws {
        let state = request.query("state")
        let query = FormText.query(["state": state, "cursor": request.query("cursor"), "limit": "\(Self.count)"])
        let list = try await request.get("/v1/notifications/\(self.id(request))/deliveries\(query)")
        model["deliveries"] = list["deliveries"].elements.map { delivery -> PageModel in
            var row = PageValue.of(delivery) as? PageModel ?? [:]
            let state = delivery["state"].stringValue ?? ""
            row["stateText"] = request.texts["deliveries.states.\(state)"]
            row["stateKind"] = Self.kind(state)
            row["opened"] = delivery["receipts"].elements.compactMap(\.["event"].stringValue).last ?? ""
            let apnsID = FormText.encoded(delivery["apnsId"].stringValue ?? "")
            row["timeline"] = "\(Dashboard.root)\(request.appPath)/deliveries/\(apnsID)"
            return row
        }
        model["hasDeliveries"] = !list["deliveries"].elements.isEmpty
        model["states"] = Self.states.map { name in
            ["value": name, "label": request.texts["deliveries.states.\(name)"], "isChosen": name == state] as PageModel
        }
        model["isFiltered"] = state != nil
        var pager: PageModel = [:]
        let path = self.path(request)
        if request.query("cursor") != nil { pager["first"] = "\(path)\(FormText.query(["state": state]))#deliveries" }
        if let next = list["next"].stringValue {
            pager["next"] = "\(path)\(FormText.query(["state": state, "cursor": next]))#deliveries"
        }
        model["pager"] = pager.isEmpty ? nil : pager
    }

    /// Returns the reasons of the rejected and failed deliveries, the commonest first, of the first thousand each.
    private func reasons(_ request: PageRequest) async throws -> [PageModel] {
        var counts: [String: Int] = [:]
        for state in ["rejected", "failed"] {
            let query = "?state=\(state)&limit=\(Self.counted)"
            let list = try await request.get("/v1/notifications/\(self.id(request))/deliveries\(query)")
            for delivery in list["deliveries"].elements {
                counts[delivery["reason"].stringValue ?? "–", default: 0] += 1
            }
        }
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.map { ["reason": $0.key, "count": PageNumber(value: Double($0.value))] }
    }
}
