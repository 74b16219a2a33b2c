import HTTPTypes
import Hummingbird
import ProviderModel
import PushHTTP
import PushSupport

/// An area of the dashboard, which consists of related pages, such as those of schedules.
protocol PageArea: Sendable {
    var routes: [PageRoute] { get }
    /// The area's entry in the navigation menu, or `nil` for an area that is reached only from other pages.
    var menuEntry: MenuEntry? { get }
}

extension PageArea {
    var menuEntry: MenuEntry? { nil }
}

/// An area with a page that shows the errors of its forms.
protocol FormArea: PageArea {
    func page(_ request: PageRequest, error: RequestError?) async throws -> Response
}

extension FormArea {
    /// Returns the route of a form. If its handler throws a ``RequestError``, the page of the area is shown with it.
    /// - Parameters:
    ///   - scope: The scope without which the form is refused with an error page, or `nil` if any caller may post it.
    ///   - showsForbidden: Pass `false` if the page of the area is of no use to a caller who may not post the form.
    func form(
        _ path: String,
        scope: APIScope? = nil,
        showsForbidden: Bool = true,
        _ handler: @escaping @Sendable (PageRequest) async throws -> Response
    ) -> PageRoute {
        .post(path) { request in
            if let scope { try request.require(scope) }
            do {
                return try await handler(request)
            } catch let error as RequestError where showsForbidden || error.kind != .forbidden {
                return try await self.page(request, error: error)
            }
        }
    }
}

struct MenuEntry: Sendable {
    /// The group of the navigation menu to which an entry belongs.
    enum Group: Sendable {
        case top, app
        /// The group of pages about the server, for callers that may use all apps.
        case server
    }

    let group: Group
    /// The name of the entry, by which its label is found below `menu` in the localized texts.
    let name: String
    /// The path of the page below ``Dashboard/root`` or, in the group `app`, below the path of the app.
    let path: String
    /// The scope that a caller must have to see the entry.
    let scope: APIScope

    /// Creates an entry. A `path` of `nil` stands for the name with a leading slash.
    init(_ group: Group, _ name: String, path: String? = nil, scope: APIScope = .read) {
        (self.group, self.name, self.path, self.scope) = (group, name, path ?? "/\(name)", scope)
    }
}

/// The route of a page, or of a form that a page posts.
struct PageRoute: Sendable {
    enum Handler: Sendable {
        /// A handler for requests of visitors, with or without a session.
        case visitor(@Sendable (AnonymousPageRequest) async throws -> Response)
        /// A handler for requests of a signed-in caller. The CSRF token of a posted form has been checked.
        case person(@Sendable (PageRequest) async throws -> Response)
        /// A handler for forms with a file that a signed-in caller posts. The file is `nil` if none was chosen, and the
        /// handler reads it while it arrives. The CSRF token has been checked.
        case upload(@Sendable (PageRequest, UploadForm.File?) async throws -> Response)
    }

    let method: HTTPRequest.Method
    /// The path of the page below ``Dashboard/root``, with parameters in braces, such as `/apps/{app}/schedules`.
    let path: String
    let handler: Handler

    static func get(_ path: String, _ handler: @escaping @Sendable (PageRequest) async throws -> Response) -> Self {
        Self(method: .get, path: path, handler: .person(handler))
    }

    static func post(_ path: String, _ handler: @escaping @Sendable (PageRequest) async throws -> Response) -> Self {
        Self(method: .post, path: path, handler: .person(handler))
    }

    static func upload(
        _ path: String,
        _ handler: @escaping @Sendable (PageRequest, UploadForm.File?) async throws -> Response
    ) -> Self {
        Self(method: .post, path: path, handler: .upload(handler))
    }

    static func open(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (AnonymousPageRequest) async throws -> Response
    ) -> Self {
        Self(method: method, path: path, handler: .visitor(handler))
    }
}

extension Response {
    static func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}
