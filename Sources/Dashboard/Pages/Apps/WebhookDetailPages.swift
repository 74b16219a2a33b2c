import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes
import WebPages

/// The page of one webhook, with its state, its deliveries, and the forms that test and change it.
struct WebhookDetailPages: PageArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}/webhooks/{webhook}", { try await self.page($0) }),
            .post("/apps/{app}/webhooks/{webhook}/edit", self.edit),
            .post("/apps/{app}/webhooks/{webhook}/test", self.test),
            .post("/apps/{app}/webhooks/{webhook}/replay", self.replay),
            .post("/apps/{app}/webhooks/{webhook}/rotate", self.rotate),
            .post("/apps/{app}/webhooks/{webhook}/remove", self.remove),
            .post("/apps/{app}/webhooks/{webhook}/{operation}", self.operate),
        ]
    }

    private static func api(_ request: PageRequest) -> String {
        "/v1/webhooks/\(URLText.encoded(request.parameter("webhook")))"
    }

    private static func path(_ request: PageRequest) -> String {
        "\(request.appPath)/webhooks/\(URLText.encoded(request.parameter("webhook")))"
    }

    /// Returns the webhook that the path names.
    /// - Throws: ``RequestError`` if the webhook does not exist or belongs to another app.
    @discardableResult
    private static func webhook(_ request: PageRequest) async throws -> WebhookResponse {
        let webhook = try await request.get(Self.api(request), as: WebhookResponse.self)
        guard webhook.app?.name == request.app else { throw RequestError.noSuch("webhook") }
        return webhook
    }

    private func page(
        _ request: PageRequest,
        test: WebhookTestResult? = nil,
        error: RequestError? = nil
    ) async throws -> Response {
        let webhook = try await Self.webhook(request)
        let query = URLText.query(["limit": "20", "cursor": request.query("cursor")])
        let path = Self.path(request)
        let list = "\(Self.api(request))/deliveries\(query)"
        let deliveries = try await request.list(list, of: WebhookDeliveryRecord.self)
        let isTyped = error != nil && request.form["url"] != nil
        var model = WebhookListPages.row(webhook, request)
        model["path"] = "\(Dashboard.root)\(path)"
        model["deliveries"] = deliveries.entries.map { Self.delivery($0, request) }
        model["pager"] = request.pager(deliveries.next, path: path)
        model["problems"] = FieldErrors.model(error)
        model["test"] = test.map { test -> PageModel in
            var model = PageValue.members(test)
            for name in ["status", "error"] where model[name] == nil { model[name] = false }
            model["kind"] = test.isAccepted ? "good" : "bad"
            return model
        }
        model["isOpen"] = isTyped
        model["fields"] = FormModel.fields(
            "edit",
            WebhookListPages.fields(
                request,
                url: isTyped ? request.form["url"] ?? "" : webhook.url,
                events: isTyped ? request.form.values("events") : webhook.events
            ),
            error: error
        )
        return request.page("webhook", title: "webhooks.one", model, error: error)
    }

    private static func delivery(_ delivery: WebhookDeliveryRecord, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(delivery)
        let isDone = delivery.isAcknowledged
        model["stateLabel"] =
            [
                "kind": isDone ? "good" : "wait",
                "text": request.texts[isDone ? "webhooks.acknowledged" : "webhooks.waiting"],
            ] as PageModel
        model["kindName"] = request.texts["webhooks.kinds.\(delivery.kind.rawValue)"]
        if model["acknowledgedAt"] == nil { model["acknowledgedAt"] = false }
        return model
    }

    // MARK: Changes

    private func edit(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "saved") {
            let events = request.form.values("events").map(JSONValue.string)
            let body = JSONValue.object(["url": .string(request.form["url"] ?? ""), "events": .array(events)])
            _ = try await request.call(.patch(Self.api(request), body))
        }
    }

    /// Enables the webhook or finishes the rotation of its secret, as the path specifies.
    private func operate(_ request: PageRequest) async throws -> Response {
        try request.require(.operate)
        let operation = request.parameter("operation")
        guard ["enable", "finish-rotation"].contains(operation) else {
            throw PageError.noSuchPage.error(request.texts["failure.nothing"], kind: .notFound)
        }
        return try await self.change(request, done: "saved") {
            _ = try await request.call(.post("\(Self.api(request)):\(operation)"))
        }
    }

    private func replay(_ request: PageRequest) async throws -> Response {
        try await self.change(request, done: "replayed") {
            let block = try request.form.number("block", of: WebhookRequest.replay["block"])
            let body = JSONValue.members([
                "block": block.map(JSONValue.integer), "since": TimeField.json(request.form["since"]),
            ])
            _ = try await request.call(.post("\(Self.api(request)):replay", body))
        }
    }

    private func remove(_ request: PageRequest) async throws -> Response {
        try await Self.webhook(request)
        do {
            _ = try await request.call(.delete(Self.api(request)))
            return request.redirect(to: "\(request.appPath)/webhooks", done: "removed")
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    private func test(_ request: PageRequest) async throws -> Response {
        try await Self.webhook(request)
        do {
            let test = try await request.call(.post("\(Self.api(request)):test"), as: WebhookTestResult.self)
            return try await self.page(request, test: test)
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    private func rotate(_ request: PageRequest) async throws -> Response {
        try await Self.webhook(request)
        do {
            let webhook = try await request.call(.post("\(Self.api(request)):rotate"), as: WebhookResponse.self)
            return SecretPage.page(
                request,
                title: "webhooks.rotated",
                explanation: "webhooks.rotatedText",
                secret: webhook.secret ?? "",
                next: "\(Dashboard.root)\(Self.path(request))"
            )
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }

    private func change(_ request: PageRequest, done: String, _ call: () async throws -> Void) async throws -> Response
    {
        try await Self.webhook(request)
        do {
            try await call()
            return request.redirect(to: Self.path(request), done: done)
        } catch let error as RequestError {
            return try await self.page(request, error: error)
        }
    }
}
