import HTTPTypes
import Hummingbird
import PushHTTP
import PushStore

/// An area of the dashboard: pages that belong together, such as those of schedules.
protocol PageArea: Sendable {
    var routes: [PageRoute] { get }
    /// The entry of the navigation that leads to the pages; `nil` for those to which other pages lead.
    var menuEntry: MenuEntry? { get }
}

extension PageArea {
    var menuEntry: MenuEntry? { nil }
}

/// An entry of the navigation.
struct MenuEntry: Sendable {
    /// The part of the navigation.
    enum Group: Sendable {
        case top, app
        /// The pages of those who may use all apps.
        case server
    }

    let group: Group
    /// The name of the label below `menu` in the texts.
    let name: String
    /// The path below ``Dashboard/root``, or below the path of the app.
    let path: String
    /// The scope of those who see it.
    let scope: APIScope

    /// - Parameter path: The path; default that of the name.
    init(_ group: Group, _ name: String, path: String? = nil, scope: APIScope = .read) {
        (self.group, self.name, self.path, self.scope) = (group, name, path ?? "/\(name)", scope)
    }
}

/// A page, or a form that a page posts.
struct PageRoute: Sendable {
    /// The handler of a page.
    enum Handler: Sendable {
        /// A handler without a session.
        case visitor(@Sendable (AnonymousPageRequest) async throws -> Response)
        /// A handler for a signed-in person or key. The token of each posted form has been checked.
        case person(@Sendable (PageRequest) async throws -> Response)
        /// For who is signed in and posts a form with a file, which the handler reads as it arrives. The token has been checked.
        case upload(@Sendable (PageRequest, UploadForm.File?) async throws -> Response)
    }

    let method: HTTPRequest.Method
    /// The path below ``Dashboard/root`` with parameters in braces, such as `/apps/{app}/schedules`.
    let path: String
    let handler: Handler

    static func get(_ path: String, _ handler: @escaping @Sendable (PageRequest) async throws -> Response) -> Self {
        Self(method: .get, path: path, handler: .person(handler))
    }

    static func post(_ path: String, _ handler: @escaping @Sendable (PageRequest) async throws -> Response) -> Self {
        Self(method: .post, path: path, handler: .person(handler))
    }

    /// Returns a form whose file may be of any length.
    static func upload(
        _ path: String,
        _ handler: @escaping @Sendable (PageRequest, UploadForm.File?) async throws -> Response
    ) -> Self {
        Self(method: .post, path: path, handler: .upload(handler))
    }

    /// Returns a page for who is not signed in.
    static func open(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ handler: @escaping @Sendable (AnonymousPageRequest) async throws -> Response
    ) -> Self {
        Self(method: method, path: path, handler: .visitor(handler))
    }
}

extension Response {
    /// Returns the response that sends a browser to another page, with GET.
    static func redirect(to path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path, .cacheControl: "no-store"])
    }
}
