package import HTTPTypes
package import Hummingbird
package import NIOCore
package import PushSupport

extension Response {
    /// Returns a response with a JSON body, its members in alphabetical order.
    package static func json(
        _ value: some JSONRepresentable,
        status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [:]
    ) throws -> Response {
        let json = value.json
        ResponseValue.current?.set(value, json)
        return .content(ByteBuffer(bytes: try json.text), "application/json", status, headers)
    }

    /// Returns a list, or one page of it: `{"NAME":[…],"next":"…"}`.
    ///
    /// - Parameters:
    ///   - next: The beginning of the next page; `nil` at the end, and in a list without pages.
    ///   - further: The members besides these two.
    package static func page<Entry: JSONRepresentable>(
        _ name: String,
        _ entries: [Entry],
        next: String? = nil,
        further: [String: JSONValue] = [:]
    ) throws -> Response {
        var members = further
        members[name] = entries.json
        members["next"] = next.map { .string($0) }
        let response = try Response.json(members)
        ResponseValue.current?.set(ResponsePage(entries: entries, next: next), .object(members))
        return response
    }

    /// Returns a response that reports an error, with the status of its kind.
    ///
    /// - Parameter status: Overrides that status, for an error that arose in HTTP itself.
    package static func error(
        _ error: RequestError,
        status: HTTPResponse.Status? = nil,
        headers: HTTPFields = [:]
    ) -> Response {
        ResponseValue.current?.set(error, .null)
        var headers = headers
        if error.kind == .unauthenticated { headers[.wwwAuthenticate] = "Bearer" }
        return .content(ByteBuffer(bytes: error.body), "application/json", status ?? error.kind.status, headers)
    }

    /// Returns a response with a body of a media type. A long one is written in pieces, see ``ResponseBody/pieces(of:)``.
    package static func content(
        _ body: ByteBuffer,
        _ contentType: String,
        _ status: HTTPResponse.Status = .ok,
        _ headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = contentType
        return Response(status: status, headers: headers, body: .pieces(of: body))
    }

    package static var noContent: Response { Response(status: .noContent) }
}
