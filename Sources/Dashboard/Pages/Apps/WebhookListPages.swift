import Hummingbird
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// The list of an app's webhooks, and the form that adds one.
struct WebhookListPages: FormArea {
    var routes: [PageRoute] {
        [
            .get("/apps/{app}/webhooks", { try await self.page($0, error: nil) }),
            self.form("/apps/{app}/webhooks", self.add),
        ]
    }
    var menuEntry: MenuEntry? { MenuEntry(.app, "webhooks", scope: .operate) }

    func page(_ request: PageRequest, error: RequestError?) async throws -> Response {
        let webhooks = try await request.list("\(request.api)/webhooks", of: WebhookResponse.self).entries
        let model: PageModel = [
            "webhooks": webhooks.map { Self.row($0, request) }, "may": request.permissions,
            "path": "\(Dashboard.root)\(request.appPath)/webhooks", "bundleId": request.app,
            "isOpen": webhooks.isEmpty || error != nil,
            "fields": FormModel.fields(
                "add",
                Self.fields(
                    request,
                    url: request.form["url"] ?? "",
                    events: error == nil
                        ? WebhookRecord.Event.standard.map(\.rawValue) : request.form.values("events")
                ),
                error: error
            ),
        ]
        return request.page("webhooks", title: "webhooks.title", model, error: error)
    }

    static func fields(_ request: PageRequest, url: String, events: [String]) -> [FormField] {
        let make = MemberFields(texts: request.texts, area: "webhooks", list: WebhookRequest.addition)
        return [
            make.field("url", .line(type: "url"), value: url),
            make.field("events", .checks(make.options("events", "kinds")), values: events),
        ]
    }

    static func row(_ webhook: WebhookResponse, _ request: PageRequest) -> PageModel {
        var model = PageValue.members(webhook)
        model["path"] = self.path(webhook, request)
        let state = webhook.isActive ? (webhook.failures > 0 ? "failing" : "active") : "disabled"
        model["stateLabel"] = StateLabel.model(state, request.texts)
        model["isActive"] = webhook.isActive
        model["eventText"] = webhook.events.map { request.texts["webhooks.kinds.\($0)"] }.joined(separator: ", ")
        for name in ["lastError", "lastSuccessAt", "nextTryAt"] where model[name] == nil { model[name] = false }
        return model
    }

    private static func path(_ webhook: WebhookResponse, _ request: PageRequest) -> String {
        "\(Dashboard.root)\(request.appPath)/webhooks/\(webhook.id)"
    }

    /// Adds a webhook, and shows its secret. No later page shows it.
    private func add(_ request: PageRequest) async throws -> Response {
        let events = request.form.values("events").map(JSONValue.string)
        let body = JSONValue.members([
            "url": .string(request.form["url"] ?? ""), "events": events.isEmpty ? nil : .array(events),
        ])
        let webhook = try await request.call(.post("\(request.api)/webhooks", body), as: WebhookResponse.self)
        return SecretPage.page(
            request,
            title: "webhooks.added",
            explanation: "webhooks.secretText",
            secret: webhook.secret ?? "",
            next: Self.path(webhook, request)
        )
    }
}

/// The page that shows a new secret, such as an API key, once only.
enum SecretPage {
    /// Returns the page with a secret.
    /// - Parameters:
    ///   - explanation: The path of the explanation in the localized texts.
    ///   - next: The path of the page to which the page links.
    static func page(
        _ request: PageRequest,
        title: String,
        explanation: String,
        secret: String,
        next: String
    ) -> Response {
        request.page(
            "secret",
            title: title,
            ["explanation": request.texts[explanation], "secret": secret, "next": next]
        )
    }
}
