import Foundation
import ProviderModel
import PushSupport
import PushTypes

/// A request to a publisher's server for the products to which an account is entitled.
struct PublisherRequest: Hashable, Sendable {
    var app: Topic
    var account: String?
    /// The token that the publisher's server issued when the account signed in, or `nil` if the app sent none.
    var token: String?
    var products: [String]

    /// The components of the HTTP request that depend on the form of the server's API.
    struct Request: Hashable, Sendable {
        var method: String
        /// The path and the query of the URL.
        var target: String
        /// The JSON body, or `nil` for a GET.
        var body: Data?

        /// The bytes that the signature covers: the body, or the path and query if there is no body.
        var signedBytes: Data { self.body ?? Data(self.target.utf8) }
    }

    /// Returns the HTTP request in the given form of the server's API.
    /// - Parameter target: The path and query of the server's URL.
    func request(_ form: EntitlementServerRecord.Form, target: String) -> Request {
        switch form {
        case .json: Request(method: "POST", target: target, body: self.json)
        case .xml: Request(method: "GET", target: self.target(below: target))
        }
    }

    /// A copy of the request with ``mask`` in place of the token.
    var withoutToken: PublisherRequest {
        var question = self
        if question.token != nil { question.token = Self.mask }
        return question
    }

    /// The text that replaces secrets. It requires no percent-encoding in a URL.
    static let mask = "redacted"

    /// The forms of the token to mask: verbatim and percent-encoded. The array is empty if there is no token.
    var tokens: [String] { self.token.map { [$0, PercentEncoding.component($0)] } ?? [] }

    private var json: Data {
        var json = JSONWriter(capacity: 512)
        json.raw(#"{"app":"#)
        json.string(self.app.name)
        if let account {
            json.raw(#","account":"#)
            json.string(account)
        }
        if let token {
            json.raw(#","authToken":"#)
            json.string(token)
        }
        json.raw(#","productIds":["#)
        for (index, product) in self.products.enumerated() {
            if index > 0 { json.raw(",") }
            json.string(product)
        }
        json.raw("]}")
        return Data(json.bytes)
    }

    /// Returns `/base/entitlements?authToken=…&appId=…` for `/base` or `/base/`. The base URL's query stays in front.
    private func target(below base: String) -> String {
        let parts = base.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map { $0.hasSuffix("/") ? $0.dropLast() : $0 } ?? ""
        var items = [("authToken", self.token ?? ""), ("appId", self.app.name)]
        if let account { items.append(("accountId", account)) }
        let own = parts.count > 1 ? ["\(parts[1])"] : []
        let query = own + items.map { "\($0)=\(PercentEncoding.component($1))" }
        return "\(path)/entitlements?\(query.joined(separator: "&"))"
    }
}
