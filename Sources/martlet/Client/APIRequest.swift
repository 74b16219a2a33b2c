import Foundation
import PushSupport

/// One request to the provider's API or to a gateway's admin door.
struct APIRequest {
    var method: HTTPCall.Method
    /// With percent-encoding and query.
    var path: String
    var body: JSONValue?

    /// - Parameters:
    ///   - parts: what stands between the slashes after `/v1`.
    ///   - action: what follows a colon at the end, if anything does.
    ///   - query: items without a value are left out.
    ///   - body: members without a value are left out; `.null` is sent.
    init(
        _ method: HTTPCall.Method,
        _ parts: [String],
        action: String? = nil,
        query: [(String, String?)] = [],
        body: [String: JSONValue?]? = nil
    ) {
        self.method = method
        let items = query.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
        self.path =
            "/v1/" + parts.map(Self.encoded).joined(separator: "/") + (action.map { ":\($0)" } ?? "")
            + (items.isEmpty ? "" : "?")
            + items.joined(separator: "&")
        self.body = body.map { .object($0.compactMapValues { $0 }) }
    }

    /// Everything but letters, digits and `-._~` (RFC 3986 section 2.3).
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? ""
    }

    private static let unreserved = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    )
}
