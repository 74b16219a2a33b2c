import HTTPTypes
import Hummingbird
import PushHTTP

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
