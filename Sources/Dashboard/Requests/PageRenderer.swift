import HTTPTypes
import Hummingbird
import NIOCore
import PageResources
import PushSupport
import WebPages

/// A renderer of pages with the templates, localized texts, assets and header fields that all pages share.
struct PageRenderer: Sendable {
    let templates: PageTemplates
    let languages: PageLanguages
    let assets: Assets
    let cookie: SessionCookie
    let menu: [MenuEntry]
    let liveStreams: Budget
    private let isSecure: Bool

    /// Creates a renderer. `isSecure` is `true` if browsers reach the pages over TLS.
    init(isSecure: Bool, liveStreams: Budget, menu: [MenuEntry]) throws {
        (self.liveStreams, self.menu) = (liveStreams, menu)
        let files = PageFiles(page_resources_of_dashboard())
        self.templates = try PageTemplates(files.templates)
        self.languages = try PageLanguages(files.texts)
        self.assets = Assets(folder: "\(Dashboard.root)/assets")
        self.cookie = SessionCookie(isSecure: isSecure)
        self.isSecure = isSecure
    }

    /// Returns a page that is rendered from a template.
    /// - Parameter title: The path of the title in the localized texts, or the title itself.
    func page(
        _ template: String,
        title: String,
        _ model: PageModel,
        format: PageFormat,
        texts: LocalizedTexts,
        status: HTTPResponse.Status = .ok
    ) -> Response {
        var model = model
        model["title"] = texts.text(title) ?? title
        model["language"] = texts.language
        model["t"] = texts.variable
        model["assets"] = ["style": self.assets.style, "script": self.assets.script]
        model["home"] = Dashboard.root
        let text = self.templates.render(template, model, format: format) ?? ""
        let headers = SecurityHeaders.page(isSecure: self.isSecure)
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(string: text)))
    }
}

/// The label of a state, which is a word with a shape and a color, for the CSS class `state`.
enum StateLabel {
    static func model(_ state: String, _ texts: LocalizedTexts) -> PageModel {
        ["kind": Self.kinds[state] ?? "wait", "text": texts.text("states.\(state)") ?? state]
    }

    private static let kinds = [
        // Deliveries.
        "accepted": "good", "rejected": "bad", "failed": "bad", "skipped": "wait", "unknown": "warn", "sending": "run",
        "pending": "wait",
        // Notifications; `accepted` of a notification is shown as `due`.
        "due": "wait", "scheduled": "wait", "paused": "warn", "cancelled": "bad", "done": "good",
        // Environments, devices, webhooks, breakers, people.
        "running": "good", "failing": "warn", "active": "good", "inactive": "bad", "disabled": "bad", "open": "bad",
        "closed": "good", "invited": "wait",
        // Issues.
        "draft": "wait", "published": "good", "withdrawn": "warn",
        // Token events.
        "reactivated": "good", "replaced": "wait", "deactivated": "bad", "withheld": "warn", "settled": "wait",
        "deleted": "wait",
    ]
}
