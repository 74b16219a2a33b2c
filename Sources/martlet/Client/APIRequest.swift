import Foundation
import PushSupport

/// One request to the provider's API or to a gateway's admin API.
struct APIRequest: Sendable {
    /// The HTTP methods of the APIs.
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    var method: Method
    /// The parts of the path between its slashes, after `/v1` and the part that the connection adds.
    var parts: [String]
    /// The word after a colon at the end of the path; `nil` for none.
    var action: String?
    /// The items of the query, not yet percent-encoded.
    var query: [(String, String)]
    /// The request headers besides those that every request has.
    var headers: [(String, String)]
    /// The JSON object to send; `nil` for a request without a body.
    var body: JSONValue?

    /// - Parameters:
    ///   - query: the items of the query; those without a value are left out.
    ///   - body: the members of the body; those without a value are left out, `.null` is sent.
    init(
        _ method: Method,
        _ parts: [String],
        action: String? = nil,
        query: [(String, String?)] = [],
        headers: [(String, String)] = [],
        body: [String: JSONValue?]? = nil
    ) {
        self.method = method
        self.parts = parts
        self.action = action
        self.query = query.compactMap { name, value in value.map { (name, $0) } }
        self.headers = headers
        self.body = body.map(JSONValue.members)
    }

    /// Path and query, percent-encoded.
    var path: String {
        let items = self.query.map { "\($0)=\(Self.encoded($1))" }
        return "/v1/" + self.parts.map(Self.encoded).joined(separator: "/") + (self.action.map { ":\($0)" } ?? "")
            + (items.isEmpty ? "" : "?") + items.joined(separator: "&")
    }

    /// Encodes everything but letters, digits and `-._~` (RFC 3986 section 2.3).
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    }

    /// The characters that stay as they are in a path or a query.
    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    )
}
