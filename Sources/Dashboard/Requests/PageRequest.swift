import Foundation
import HTTPTypes
import Hummingbird
import ProviderAPI
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import Synchronization
import WebPages

/// A request to a page by the signed-in caller.
final class PageRequest: Sendable {
    let visitor: AnonymousPageRequest
    let session: Session
    let texts: LocalizedTexts
    /// The path of the page's route.
    let path: String
    private let state = Mutex(State())

    /// The state of one request, which a page fills.
    private struct State {
        var calls: [LocalAPIRequest] = []
        var form: FormData?
        /// The `retry-after` of a call that was refused for now.
        var retryAfter: String?
    }

    init(_ visitor: AnonymousPageRequest, session: Session, path: String) {
        (self.visitor, self.session, self.path) = (visitor, session, path)
        self.texts = visitor.texts(session)
    }

    var http: Request { self.visitor.http }
    var context: APIContext { self.visitor.context }
    var interface: ProviderInterface { self.visitor.interface }

    /// Returns the value of a parameter in the path.
    func parameter(_ name: String) -> String { self.context.path(name) }

    /// Returns the value of an item in the query; `nil` for an absent or empty one.
    func query(_ name: String) -> String? {
        let item = self.http.uri.queryParameters.first { $0.key == Substring(name) }
        return item.flatMap { $0.value.isEmpty ? nil : String($0.value) }
    }

    /// The fields of the posted form, whose token has been checked.
    var form: FormData { self.state.withLock { $0.form } ?? FormData() }

    /// Returns `true` if the caller's scopes allow operations of a scope.
    func may(_ scope: APIScope) -> Bool { self.session.caller.allows(scope) }

    /// Notes a call for the list at the foot of the page.
    func note(_ call: LocalAPIRequest) { self.state.withLock { $0.calls.append(call) } }

    private var calls: [LocalAPIRequest] { self.state.withLock { $0.calls } }

    /// Notes the `retry-after` of a refused call, for a page that shows the refusal; `nil` for a refusal without one.
    func noteRetryAfter(_ seconds: String?) { self.state.withLock { $0.retryAfter = seconds } }

    private var retryAfter: String? { self.state.withLock { $0.retryAfter } }

    /// Runs the handler of a page, once the token of a posted form has been checked.
    func respond(with handler: @Sendable (PageRequest) async throws -> Response) async -> Response {
        var held: BudgetPermit?
        defer { held?.end() }
        do {
            try self.checkApp()
            if self.http.method == .post {
                let form: FormData
                (form, held) = try await self.visitor.form(of: self.session.caller)
                guard self.session.accepts(csrfToken: form["csrf"] ?? "") else { throw Self.staleForm }
                self.state.withLock { $0.form = form }
            }
            return try await handler(self)
        } catch {
            return self.errorPage(for: error)
        }
    }

    /// Runs the handler of a form with a file, once the token, which precedes the file, has been checked.
    func respond(toUpload handler: @Sendable (PageRequest, UploadForm.File?) async throws -> Response) async -> Response
    {
        do {
            let upload = try await self.visitor.uploadForm()
            guard self.session.accepts(csrfToken: upload.fields["csrf"] ?? "") else { throw Self.staleForm }
            self.state.withLock { $0.form = upload.fields }
            return try await handler(self, upload.file)
        } catch {
            return self.errorPage(for: error)
        }
    }

    private static let staleForm = RequestError(
        .forbidden,
        code: "stale_form",
        message: "this form belongs to an earlier session; reload the page and send it again"
    )
}

// MARK: Pages

extension PageRequest {
    /// The format of numbers and times.
    var format: PageFormat { PageFormat(texts: self.texts, now: self.interface.time.now) }

    /// Returns a page in the dashboard's layout.
    ///
    /// - Parameters:
    ///   - title: The path of its title in the texts, or the title itself.
    ///   - error: What the API refused, shown above the page. Its field is shown at the field, see ``FieldErrors``.
    ///   - status: The status; by default that of the error. A page whose filter is refused is there all the same, with 200.
    func page(
        _ template: String,
        title: String,
        _ model: PageModel = [:],
        error: RequestError? = nil,
        status: HTTPResponse.Status? = nil
    ) -> Response {
        var model = model
        model["csrf"] = self.session.csrfToken
        model["menu"] = Menu(self).model
        model["account"] = [
            "name": self.session.caller.name, "path": "\(Dashboard.root)/account",
            "signOut": "\(Dashboard.root)/sign-out",
        ]
        if let error { model["error"] = PageError.model(error, self.texts) }
        if let notice = self.query("done") {
            model["notice"] = self.texts.text("done.\(notice)").map { ["kind": "good", "text": $0 + self.underWay] }
        }
        let calls = self.calls
        if !calls.isEmpty { model["calls"] = ["lines": calls.map { $0.curl(origin: self.origin) }] }
        let status = status ?? error?.kind.status ?? .ok
        var page = self.visitor.renderer.page(
            template,
            title: title,
            model,
            format: self.format,
            texts: self.texts,
            status: status
        )
        if [.tooManyRequests, .serviceUnavailable].contains(status) { page.headers[.retryAfter] = self.retryAfter }
        return page
    }

    /// Returns a part of a page, for live updates and previews.
    func part(_ template: String, _ model: PageModel) -> String {
        var model = model
        model["t"] = self.texts.variable
        model["csrf"] = self.session.csrfToken
        return self.visitor.renderer.templates.render(template, model, format: self.format) ?? ""
    }

    /// Sends the browser to a page, which shows that something was done.
    ///
    /// - Parameters:
    ///   - done: The name of the sentence below `done` in the texts.
    ///   - answer: The answer to a stop, whose pushes under way the page names.
    func redirect(to path: String, done: String? = nil, after answer: JSONValue = .null) -> Response {
        guard let done else { return .redirect(to: "\(Dashboard.root)\(path)") }
        let count = answer["underWay"].integerValue ?? 0
        let underWay = count > 0 ? "&underWay=\(count)" : ""
        return .redirect(to: "\(Dashboard.root)\(path)\(path.contains("?") ? "&" : "?")done=\(done)\(underWay)")
    }

    /// The sentence about the pushes that a stop could not take back, after a space; empty for none.
    private var underWay: String {
        guard let count = self.query("underWay").flatMap(Int.init), count > 0 else { return "" }
        let number = self.format.number(Double(count))
        return " \(count == 1 ? self.texts["underWay.one"] : self.texts["underWay.many", ["count": number]])"
    }

    private func errorPage(for error: any Error) -> Response {
        let (error, headers) = self.visitor.failure(error)
        if let seconds = headers[.retryAfter] { self.noteRetryAfter(seconds) }
        return self.page("problem", title: "failure.title", error: error)
    }

    /// The scheme and the authority that the browser uses.
    var origin: String {
        "\(self.interface.isSecure ? "https" : "http")://\(self.http.head.authority ?? "localhost")"
    }
}
