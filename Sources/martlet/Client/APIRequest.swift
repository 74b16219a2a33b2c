import Foundation
import PushSupport

/// One request to the provider's API or to a gateway's admin API.
struct APIRequest: Sendable {
    enum Method: String {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    let method: Method
    /// The path components that follow `/v1` and those of ``APIConnection/path``.
    var parts: [String]
    /// The name of the action that follows a colon at the end of the path, or `nil` if the path names no action.
    private var action: String?
    private var query: [(String, String)] = []
    private(set) var headers: [(String, String)] = []
    /// The JSON body, or `nil` for a request without a body.
    private(set) var body: JSONValue?

    init(_ method: Method, _ parts: [String]) { (self.method, self.parts) = (method, parts) }

    static func get(_ parts: String...) -> APIRequest { APIRequest(.get, parts) }
    static func post(_ parts: String...) -> APIRequest { APIRequest(.post, parts) }
    static func put(_ parts: String...) -> APIRequest { APIRequest(.put, parts) }
    static func delete(_ parts: String...) -> APIRequest { APIRequest(.delete, parts) }

    func action(_ name: String) -> APIRequest { changed(self) { $0.action = name } }

    /// Returns the request with further query items. Items without a value are left out.
    func query(_ items: [(String, String?)]) -> APIRequest {
        changed(self) { $0.query += items.compactMap { name, value in value.map { (name, $0) } } }
    }

    /// Returns the request with an idempotency key, which makes the server perform a repeated request only once.
    /// - Parameter key: The key, or `nil` for a new one.
    func idempotencyKey(_ key: String?) -> APIRequest {
        changed(self) { $0.headers.append(("idempotency-key", key ?? UUID().uuidString)) }
    }

    func header(_ name: String, _ value: String) -> APIRequest { changed(self) { $0.headers.append((name, value)) } }

    /// Returns the request with a JSON object as its body. Members without a value are left out, but `.null` is sent.
    func body(_ members: [String: JSONValue?]) -> APIRequest { changed(self) { $0.body = .members(members) } }

    var path: String {
        let items = self.query.map { "\($0)=\(PercentEncoding.component($1))" }
        return "/v1/" + self.parts.map { PercentEncoding.component($0) }.joined(separator: "/")
            + (self.action.map { ":\($0)" } ?? "")
            + (items.isEmpty ? "" : "?") + items.joined(separator: "&")
    }
}
