import HTTPTypes
import Hummingbird
import PushHTTP

/// An area of the dashboard: pages that belong together, such as those of schedules.
protocol PageArea: Sendable {
    var routes: [PageRoute] { get }
}

/// A page, or a form that a page posts.
struct PageRoute: Sendable {
    /// The handler of a page.
    enum Handler: Sendable {
        /// A handler without a session.
        case visitor(@Sendable (Visitor) async throws -> Response)
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
        _ handler: @escaping @Sendable (Visitor) async throws -> Response
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
