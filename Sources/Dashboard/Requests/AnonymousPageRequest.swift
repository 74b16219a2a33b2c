import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import ProviderAPI
import PushHTTP
import PushProvider
import PushSupport
import WebPages

/// A request for a page before its session is known.
struct AnonymousPageRequest: Sendable {
    let http: Request
    let context: APIContext
    let renderer: PageRenderer
    let interface: PageComponents

    init(_ http: Request, _ context: APIContext, renderer: PageRenderer, interface: PageComponents) {
        (self.http, self.context, self.renderer, self.interface) = (http, context, renderer, interface)
    }

    /// The client's IP address, by which failed sign-in attempts are counted, or an empty string if it is not known.
    var address: String {
        // For an HTTP/2 stream, the address is that of its connection.
        let channel = self.context.channel
        return (channel.remoteAddress ?? channel.parent?.remoteAddress)?.ipAddress ?? ""
    }

    /// The client's network as a caller of budgets, to which wrong API keys and links are charged.
    var client: BudgetCaller { BudgetCaller(from: self.context.channel) ?? BudgetCaller() }

    var agent: String { String((self.http.headers[.userAgent] ?? "").prefix(200)) }

    /// Returns the session whose token is in the cookie, or `nil` if there is no valid session. The event stream of a
    /// live section does not count as a use of the session, so that an open tab does not extend the session.
    func session() async throws -> Session? {
        guard let token = self.renderer.cookie.token(in: self.http.headers) else { return nil }
        let isUse = self.http.headers[.accept] != "text/event-stream"
        return try await self.interface.signIn.session(token: token, isUse: isUse)
    }

    /// Rejects a form that was posted from a page of another origin. The check complements the CSRF token of a form.
    /// The sign-in form has no token and relies on this check alone.
    /// - Throws: ``RequestError`` for another origin.
    func checkOrigin() throws {
        guard self.http.method != .get, self.http.method != .head else { return }
        let site = HTTPField.Name("sec-fetch-site").flatMap { self.http.headers[$0] }
        if let site { guard site == "same-origin" else { throw Self.foreign } }
        if let origin = self.http.headers[.origin] {
            guard let host = self.http.head.authority, origin.split(separator: "/").last.map(String.init) == host else {
                throw Self.foreign
            }
        }
    }

    /// Returns the fields of a small form that was posted without a session.
    /// - Throws: ``RequestError`` for a form that is too large or malformed.
    func smallForm() async throws -> FormData {
        var limits = FormData.Limits()
        (limits.body, limits.count, limits.value) = (8 * 1024, 10, 4 * 1024)
        return try await FormRequest.body(of: self.http, limits: limits)
    }

    /// Returns the fields of a form that a signed-in caller has posted, with the permit for the bytes of a long form,
    /// or `nil` for a short one. Query items are not treated as form fields, because logs and the browser's history
    /// contain them.
    func form(of person: APICaller) async throws -> (fields: FormData, held: BudgetPermit?) {
        var limits = FormData.Limits()
        // The limits have room for certificates and notification content. The files of issues are read as streams.
        (limits.body, limits.count, limits.value) = (1024 * 1024, 1000, 256 * 1024)
        limits.acceptsFiles = true
        let (body, held) = try await self.http.wholeBody(
            maximum: limits.body,
            from: self.interface.budgets[.bodyBytes],
            for: person.account
        )
        return (try FormRequest.fields(in: body, of: self.http, limits: limits), held)
    }

    /// Returns the posted form with the fields that precede its file, which was not read yet.
    func uploadForm() async throws -> UploadForm { try await UploadForm(self.http, limits: FormData.Limits()) }

    func texts(_ session: Session? = nil) -> LocalizedTexts {
        self.renderer.languages.texts(session?.language, acceptLanguage: self.http.headers[.acceptLanguage])
    }

    func page(
        _ template: String,
        title: String,
        _ model: PageModel = [:],
        status: HTTPResponse.Status = .ok
    ) -> Response {
        let texts = self.texts()
        let format = PageFormat(texts: texts, now: self.interface.time.now)
        return self.renderer.page(template, title: title, model, format: format, texts: texts, status: status)
    }

    /// The redirect to the sign-in page, which leads back to the requested page after the sign-in.
    var signInFirst: Response {
        let isPage = self.http.method == .get
        let wanted = isPage ? "?next=\(URLText.encoded(self.http.head.path ?? Dashboard.root))" : ""
        return .redirect(to: "\(Dashboard.root)/sign-in\(wanted)")
    }

    func errorPage(for error: any Error) -> Response {
        let (shown, headers) = self.failure(error)
        var page = self.page(
            "failure",
            title: "failure.title",
            ["error": PageError.model(shown, self.texts())],
            status: shown.kind.status
        )
        page.headers[.retryAfter] = headers[.retryAfter]
        return page
    }

    /// Returns the error to show, with the header fields of its response. The cause of a failure is logged.
    func failure(_ error: any Error) -> (error: RequestError, headers: HTTPFields) {
        self.interface.failures.pageFailure(error, ["path": .string(RedactedPath.of(self.http))])
    }

    private static let foreign = RequestError(
        .forbidden,
        code: "other_origin",
        message: "this form was posted from another site"
    )
}
