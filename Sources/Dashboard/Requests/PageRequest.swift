import HTTPTypes
import Hummingbird
import NIOCore
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushSupport
import PushTypes
import Synchronization
import WebPages

/// A request for a page by the signed-in caller.
final class PageRequest: Sendable {
    let visitor: AnonymousPageRequest
    let session: Session
    let texts: LocalizedTexts
    /// The path pattern of the page's route, with parameters in braces, such as `/apps/{app}/schedules`.
    let path: String
    private let state = Mutex(State())

    private struct State {
        var calls: [LocalAPIRequest] = []
        var form: FormData?
        /// The field `retry-after` of an API call that was refused, which the response repeats, or `nil` without one.
        var retryAfter: String?
    }

    init(_ visitor: AnonymousPageRequest, session: Session, path: String) {
        (self.visitor, self.session, self.path) = (visitor, session, path)
        self.texts = visitor.texts(session)
    }

    var http: Request { self.visitor.http }
    var context: APIContext { self.visitor.context }
    var interface: PageComponents { self.visitor.interface }

    /// Returns the value of a path parameter, or an empty string if the route has no such parameter.
    func parameter(_ name: String) -> String { self.context.path(name) }

    /// Returns the value of a query item, or `nil` if it is absent or empty.
    func query(_ name: String) -> String? {
        let item = self.http.uri.queryParameters.first { $0.key == Substring(name) }
        return item.flatMap { $0.value.isEmpty ? nil : String($0.value) }
    }

    /// The fields of the posted form, whose CSRF token has been checked. It is empty if no form was posted.
    var form: FormData { self.state.withLock { $0.form } ?? FormData() }

    func may(_ scope: APIScope) -> Bool { self.session.caller.allows(scope) }

    func note(_ call: LocalAPIRequest) { self.state.withLock { $0.calls.append(call) } }

    /// Stores the value of the field `retry-after` of an API call whose error the page shows, or `nil` if the field is
    /// missing.
    func noteRetryAfter(_ seconds: String?) { self.state.withLock { $0.retryAfter = seconds } }

    private var retryAfter: String? { self.state.withLock { $0.retryAfter } }

    /// Runs a page's handler after checking the CSRF token of a posted form. Errors result in a page that shows them.
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

    /// Runs the handler of a form with a file, which is `nil` if none was chosen, after checking the CSRF token, which
    /// precedes the file. Errors result in a page that shows them.
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
    var format: PageFormat { PageFormat(texts: self.texts, now: self.interface.time.now) }

    /// Returns a page in the dashboard's layout.
    /// - Parameters:
    ///   - title: The path of the title in the localized texts, or the title itself.
    ///   - error: The error of the API to show above the page. `FieldErrors` also shows it next to a field of the form.
    ///   - status: The HTTP status, or `nil` for that of the error, or 200 if there is none. A page with an invalid
    ///     filter has the status 200.
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
        let calls = self.state.withLock { $0.calls }
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

    func part(_ template: String, _ model: PageModel) -> String {
        var model = model
        model["t"] = self.texts.variable
        model["csrf"] = self.session.csrfToken
        return self.visitor.renderer.templates.render(template, model, format: self.format) ?? ""
    }

    /// Returns the redirect to a page after a change, of which the page shows a notice.
    /// - Parameters:
    ///   - done: The name of the notice below `done` in the localized texts, or `nil` for no notice.
    ///   - answer: The API response to a stop. The page shows the number of pushes in flight that it contains.
    func redirect(to path: String, done: String? = nil, after answer: JSONValue = .null) -> Response {
        guard let done else { return .redirect(to: "\(Dashboard.root)\(path)") }
        let count = answer["underWay"].integerValue ?? 0
        let underWay = count > 0 ? "&underWay=\(count)" : ""
        return .redirect(to: "\(Dashboard.root)\(path)\(path.contains("?") ? "&" : "?")done=\(done)\(underWay)")
    }

    /// The sentence about the pushes that were in flight at a stop, preceded by a space, or an empty string if there
    /// were none.
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

    /// The scheme and the authority (host and port) of the URL with which the browser requested the page.
    var origin: String { "\(self.interface.isSecure ? "https" : "http")://\(self.http.head.authority ?? "localhost")" }
}

// MARK: Apps

extension PageRequest {
    var api: String { "/v1/apps/\(URLText.encoded(self.parameter("app")))" }

    var appPath: String { "/apps/\(URLText.encoded(self.parameter("app")))" }

    /// Checks that the caller may use the app of the page, because some pages make no API request that would be
    /// rejected.
    /// - Throws: ``RequestError`` if the caller may not use the app.
    private func checkApp() throws {
        guard !self.app.isEmpty, self.session.caller.apps != nil else { return }
        guard let topic = Topic(self.app), self.session.caller.mayUse(topic) else {
            throw PageError.otherApp.error(self.texts["failure.otherApp"], kind: .forbidden)
        }
    }

    /// Checks that the caller has the scope without which the page is of no use. The API checks each request again.
    /// - Throws: ``RequestError`` if the caller lacks the scope.
    func require(_ scope: APIScope) throws {
        guard !self.may(scope) else { return }
        let message = self.texts["failure.scope", ["scope": scope.rawValue]]
        throw PageError.scopeLacks.error(message, kind: .forbidden)
    }

    /// Returns the names of the app's audiences, the oldest first, at most 1,000.
    func audienceNames() async throws -> [String] {
        let path = "\(self.api)/audiences:names?limit=1000"
        return try await self.list(path, of: LibraryNameResponse.self).entries.map(\.entry.name)
    }

    func fragment(_ template: String, _ model: PageModel) -> Response {
        let html = self.part(template, model)
        let headers = SecurityHeaders.page(isSecure: self.interface.isSecure)
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(string: html)))
    }

    /// The bundle id of the app to which the page belongs, or an empty string for a page of the server.
    var app: String { self.parameter("app") }

    /// Returns the path of an app's pages below ``Dashboard/root``. With the prefix `/v1`, it is the app's path in the
    /// API.
    static func appPath(_ app: String) -> String { "/apps/\(URLText.encoded(app))" }

    /// Returns the schedule that the path names.
    /// - Throws: ``RequestError`` if the schedule does not exist or belongs to another app.
    func schedule() async throws -> ScheduleResponse {
        let path = "/v1/schedules/\(URLText.encoded(self.parameter("schedule")))"
        let response = try await self.get(path, as: ScheduleResponse.self)
        guard response.app.name == self.app else { throw RequestError.noSuch("schedule") }
        return response
    }

    var permissions: PageModel {
        [
            "send": self.may(.send), "register": self.may(.register), "operate": self.may(.operate),
            "admin": self.may(.admin),
        ]
    }

    /// Returns the template variables for the pager of a list, which contain the links to the first page, unless it is
    /// the current one, and to the next page. Returns `nil` if there are no links.
    func pager(_ next: String?, path: String, _ filters: KeyValuePairs<String, String?> = [:]) -> PageModel? {
        let query = URLText.query(filters)
        var model: PageModel = [:]
        if self.query("cursor") != nil { model["first"] = "\(Dashboard.root)\(path)\(query)" }
        if let next {
            let join = query.isEmpty ? "?" : "&"
            model["next"] = "\(Dashboard.root)\(path)\(query)\(join)cursor=\(URLText.encoded(next))"
        }
        return model.isEmpty ? nil : model
    }
}

/// An error that a page itself detects, with a message in the language of the page. All other errors are those of the
/// API, in English. Messages of the API are the same in commands, logs and documents, so that people can search for
/// them. Pages mark these messages as English instead of translating them (docs/decisions/0036).
enum PageError: String {
    case noSuchPage = "no_such_page"
    case otherApp = "page_of_other_app"
    case scopeLacks = "page_needs_scope"
    case fileMissing = "no_file_chosen"
    case sizeMissing = "no_size_given"
    case notANumber = "not_a_number"
    case inProgress = "in_progress_already"
    case passwordsDiffer = "passwords_differ"
    case notConfirmed = "not_confirmed"
    case allAppsAndSome = "all_apps_and_some"
    case changedMeanwhile = "page_changed_meanwhile"

    /// Returns the error with a localized message.
    /// - Parameters:
    ///   - message: The message in the language of the page.
    ///   - field: The name of the field that caused the error, or `nil` if there is none.
    func error(_ message: String, kind: RequestError.Kind = .invalid, field: String? = nil) -> RequestError {
        RequestError(kind, code: self.rawValue, message: message, path: field)
    }

    /// Returns the template variable `error` of the layouts, with the message and its language.
    static func model(_ error: RequestError, _ texts: LocalizedTexts) -> PageModel {
        ["message": error.message, "language": Self.language(error) ?? texts.language]
    }

    /// Returns the language of an error's message, or `nil` if it is the language of the page.
    static func language(_ error: RequestError) -> String? { Self(rawValue: error.code) == nil ? "en" : nil }
}
