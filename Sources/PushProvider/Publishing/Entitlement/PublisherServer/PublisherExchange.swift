/// One question to a publisher's server and what came of it, as people see it: without token and secret.
package struct PublisherExchange: Hashable, Sendable {
    /// The longest text of a response that is shown, in characters.
    static let maximumShown = 4096

    package var method: String
    package var url: String
    /// The body of the request; `nil` if it has none.
    package var request: String?
    /// The HTTP status; `nil` without a response.
    package var status: Int?
    /// The beginning of the response's body; `nil` without a response.
    package var response: String?
    /// The product ids that the answer names, in order; `nil` without an answer.
    package var products: [String]?
    /// The reason for which there is no answer, or none that helps.
    package var error: String?
    /// The time from the look-up of the name to the end of the response.
    package var duration: Duration = .zero

    init(method: String, url: String, request: String?) {
        (self.method, self.url, self.request) = (method, url, request)
    }
}
