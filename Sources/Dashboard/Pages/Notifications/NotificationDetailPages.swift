import Foundation
import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import PushTypes
import WebPages

/// The page of one notification, with its progress, its content, its deliveries, and the forms that change it.
struct NotificationDetailPages: PageArea {
    /// The states of recipients by their names in the API, with the closures that return the number of recipients in
    /// each. Recipients that wait for a retry count as `sending`.
    private static let states: [(name: String, count: @Sendable (NotificationProgress) -> Int)] = [
        ("accepted", { $0.accepted }), ("rejected", { $0.rejected }), ("failed", { $0.failed }),
        ("skipped", { $0.skipped }), ("unknown", { $0.unknown }), ("sending", { $0.retrying }),
    ]
    private static let count = 50
    /// The maximum number of deliveries per state whose reasons are counted. Further deliveries are not counted.
    private static let counted = 1000

    var routes: [PageRoute] {
        [
            .get("/apps/{app}/notifications/{notification}", { try await self.page($0) }),
            .get("/apps/{app}/notifications/{notification}/live", self.live),
            .post("/apps/{app}/notifications/{notification}/pause", { try await self.change("pause", $0) }),
            .post("/apps/{app}/notifications/{notification}/resume", { try await self.change("resume", $0) }),
            .post("/apps/{app}/notifications/{notification}/cancel", { try await self.change("cancel", $0) }),
            .post("/apps/{app}/notifications/{notification}/resend", self.resend),
        ]
    }

    // MARK: Pages

    private func page(_ request: PageRequest, error: RequestError? = nil) async throws -> Response {
        let response = try await self.notification(request)
        let (progress, summary) = (response.notification.progress, NotificationSummary(response, request))
        var model = self.progress(response, request)
        model["path"] = self.path(request)
        model["again"] = "\(Dashboard.root)\(request.appPath)/notifications/new?from=\(self.id(request))"
        model["maySend"] = request.may(.send)
        model["audience"] = response.notification.audience.json.line
        model["facts"] = self.facts(response, request)
        if !Self.hasEnded(response) { model["live"] = "\(self.path(request))/live" }
        let receipts = response.receiptCounts ?? []
        (model["receipts"], model["hasReceipts"]) = (receipts.map { PageValue.members($0) }, !receipts.isEmpty)
        self.addContent(of: response, to: &model, request)
        try await self.addDeliveries(to: &model, request)
        if summary.bad > 0 {
            model["reasons"] = try await self.reasons(request)
            model["hasReasons"] = true
            let isCut = max(progress.rejected, progress.failed) > Self.counted
            model["reasonsNote"] =
                isCut
                ? request.texts["notifications.reasonsOf", ["count": request.format.number(Double(Self.counted))]]
                : false
        }
        return request.page("notification", title: summary.title, model, error: error)
    }

    private func live(_ request: PageRequest) async throws -> Response {
        request.live { request in
            let response = try await self.notification(request)
            return .init(
                html: request.part("notification-progress", self.progress(response, request)),
                count: Int64(NotificationSummary(response, request).left),
                isFinal: Self.hasEnded(response)
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
            let call = LocalAPIRequest.post("/v1/notifications/\(self.id(request)):resend", .object([:]))
            let sent = try await request.call(call, as: NotificationResponse.self)
            return request.redirect(to: "\(request.appPath)/notifications/\(sent.notification.id)", done: "sent")
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    // MARK: Values

    /// Returns the notification that the path names.
    /// - Throws: ``RequestError`` if the notification does not exist or belongs to another app.
    private func notification(_ request: PageRequest) async throws -> NotificationResponse {
        let path = "/v1/notifications/\(self.id(request))"
        let response = try await request.get(path, as: NotificationResponse.self)
        guard response.app?.name == request.app else { throw RequestError.noSuch("notification") }
        return response
    }

    private func id(_ request: PageRequest) -> String { URLText.encoded(request.parameter("notification")) }

    private func path(_ request: PageRequest) -> String {
        "\(Dashboard.root)\(request.appPath)/notifications/\(self.id(request))"
    }

    private static func hasEnded(_ response: NotificationResponse) -> Bool {
        [.done, .cancelled].contains(response.notification.state)
    }

    private func progress(_ response: NotificationResponse, _ request: PageRequest) -> PageModel {
        let (state, summary) = (response.notification.state, NotificationSummary(response, request))
        var model: PageModel = ["notification": summary.model, "path": self.path(request)]
        model["counters"] = Self.states.map { name, number -> PageModel in
            let count = number(response.notification.progress)
            return [
                "name": request.texts["deliveries.states.\(name)"], "count": PageNumber(value: Double(count)),
                "kind": count == 0 ? "none" : Self.kind(name),
                "path": "\(self.path(request))?state=\(name)#deliveries",
            ]
        }
        guard request.may(.send) else { return model }
        model["mayPause"] = [.scheduled, .accepted, .sending].contains(state)
        model["mayResume"] = state == .paused
        model["mayCancel"] = !Self.hasEnded(response)
        model["mayResend"] = Self.hasEnded(response) && summary.bad > 0
        model["left"] =
            state == .scheduled ? request.texts["notifications.allLeft"] : request.format.number(Double(summary.left))
        model["failed"] = request.format.number(Double(summary.bad))
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

    private func facts(_ response: NotificationResponse, _ request: PageRequest) -> [PageModel] {
        let (notification, texts) = (response.notification, request.texts)
        let (content, environment) = (notification.content, notification.environment?.rawValue ?? "none")
        let facts: [(name: String, value: String?)] = [
            ("environment", texts["compose.environmentOptions.\(environment)"]),
            ("pushType", content.pushType.rawValue),
            ("priority", "\(content.priority.rawValue)"),
            ("collapseId", content.collapseID),
            ("consentCategory", notification.consent.category),
            ("expiration", response.expiration?.stringValue),
            ("when", notification.delivery?.json.line),
            ("pace", notification.pace?.json.line),
            ("by", notification.key?.name),
            ("id", notification.id.uuidString),
        ]
        return facts.compactMap { name, value in
            value.map { value -> PageModel in ["name": texts["notifications.facts.\(name)"], "value": value] }
        }
    }

    private func addContent(of response: NotificationResponse, to model: inout PageModel, _ request: PageRequest) {
        guard let payload = response.content?.payload else { return }
        let content = response.notification.content
        let screen = LockScreen(payload: payload, type: content.pushType)
        model["lock"] = screen.model(topic: content.topic.name, texts: request.texts)
        model["json"] = payload.indented
        if let languages = response.content?.localizations {
            model["languages"] = languages.keys.sorted().joined(separator: ", ")
        }
    }

    private func addDeliveries(to model: inout PageModel, _ request: PageRequest) async throws {
        let state = request.query("state")
        let query = URLText.query(["state": state, "cursor": request.query("cursor"), "limit": "\(Self.count)"])
        let list = try await self.deliveries(query, request)
        model["deliveries"] = list.entries.map { response -> PageModel in
            var row = PageValue.members(response)
            let state = response.delivery.state.word
            row["stateText"] = request.texts["deliveries.states.\(state)"]
            row["stateKind"] = Self.kind(state)
            row["opened"] = response.delivery.receipts.last?.event.word ?? ""
            row["timeline"] = "\(Dashboard.root)\(request.appPath)/deliveries/\(response.apnsID)"
            return row
        }
        model["hasDeliveries"] = !list.entries.isEmpty
        model["states"] = Self.states.map { name, _ in
            ["value": name, "label": request.texts["deliveries.states.\(name)"], "isChosen": name == state] as PageModel
        }
        model["isFiltered"] = state != nil
        var pager: PageModel = [:]
        let path = self.path(request)
        if request.query("cursor") != nil { pager["first"] = "\(path)\(URLText.query(["state": state]))#deliveries" }
        if let next = list.next {
            pager["next"] = "\(path)\(URLText.query(["state": state, "cursor": next]))#deliveries"
        }
        model["pager"] = pager.isEmpty ? nil : pager
    }

    private func deliveries(_ query: String, _ request: PageRequest) async throws -> ResponsePage<DeliveryResponse> {
        try await request.list("/v1/notifications/\(self.id(request))/deliveries\(query)", of: DeliveryResponse.self)
    }

    /// Returns the reasons of the rejected and failed deliveries, the most frequent first. The first 1,000 deliveries
    /// in each state are counted.
    private func reasons(_ request: PageRequest) async throws -> [PageModel] {
        var counts: [String: Int] = [:]
        for state in ["rejected", "failed"] {
            let list = try await self.deliveries("?state=\(state)&limit=\(Self.counted)", request)
            for response in list.entries { counts[response.delivery.reason ?? "–", default: 0] += 1 }
        }
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.map { ["reason": $0.key, "count": PageNumber(value: Double($0.value))] }
    }
}
