import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ProviderModel
import PushSupport

/// A publisher's server, which decides to which products an account is entitled.
protocol PublisherServer: Sendable {
    /// Sends a request to a publisher's server, and returns its response.
    /// - Throws: ``PublisherFailure`` if there is no usable response.
    func ask(
        _ question: PublisherRequest,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> PublisherResponse
}

struct PublisherClient: PublisherServer {
    let client: RestrictedHTTPClient
    let time: any TimeSource

    func ask(
        _ question: PublisherRequest,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> PublisherResponse {
        let response = try await self.response(to: question, server)
        return try PublisherResponse(status: response.status, body: Array(response.body), form: server.form)
    }

    /// Queries a publisher's server to test its settings, and returns request and response without secrets.
    func exchange(_ question: PublisherRequest, _ server: EntitlementServerRecord) async -> PublisherExchange {
        let start = ContinuousClock.now
        let address = try? WebhookAddress(server.url, policy: AddressPolicy(allowsPrivate: true))
        let shown = question.withoutToken.request(server.form, target: address?.target ?? "/")
        var exchange = PublisherExchange(
            method: shown.method,
            url: (address?.origin ?? "") + shown.target,
            request: shown.body.map { String(decoding: $0, as: UTF8.self) }
        )
        do throws(PublisherFailure) {
            let response = try await self.response(to: question, server)
            exchange.status = response.status
            let body = Array(response.body)
            exchange.response = Self.text(body, without: question.tokens + [server.secret])
            switch try PublisherResponse(status: response.status, body: body, form: server.form) {
            case .entitled(let products): exchange.products = products.sorted()
            case .accountRefused: exchange.error = "the server refuses the account: it must sign in again"
            case .questionRefused(let status): exchange.error = "the server refuses the question with status \(status)"
            }
        } catch {
            exchange.error = error.description
        }
        exchange.duration = ContinuousClock.now - start
        return exchange
    }

    private func response(
        to question: PublisherRequest,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> RestrictedHTTPClient.Response {
        do {
            return try await self.client.response(
                from: server.url,
                app: server.app,
                maximum: PublisherResponse.maximumLength
            ) { self.request(question, server, to: $0) }
        } catch {
            throw PublisherFailure(error)
        }
    }

    private func request(
        _ question: PublisherRequest,
        _ server: EntitlementServerRecord,
        to address: WebhookAddress
    ) -> HTTPClientRequest {
        let content = question.request(server.form, target: address.target)
        var request = HTTPClientRequest(url: address.origin + content.target)
        request.method = HTTPMethod(rawValue: content.method)
        let signature = WebhookSignature.make(of: content.signedBytes, secrets: [server.secret], at: self.time.now)
        request.headers = ["user-agent": "martlet", WebhookSignature.header: signature]
        if let body = content.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return request
    }

    // MARK: What people see

    /// Returns the beginning of a body, without secrets and control characters.
    private static func text(_ body: [UInt8], without secrets: [String]) -> String {
        let whole = String(decoding: body, as: UTF8.self)
        let text = secrets.filter { !$0.isEmpty }.reduce(whole) { $0.replacing($1, with: PublisherRequest.mask) }
        let shown = text.unicodeScalars.lazy.filter { $0 == "\n" || $0.value >= 0x20 }
            .prefix(PublisherExchange.maximumShown)
        return String(String.UnicodeScalarView(shown))
    }
}

extension PublisherFailure {
    fileprivate init(_ failure: PinnedClientFailure) {
        switch failure {
        case .noResponse(let reason), .noConnection(let reason): self = .noResponse(reason: reason)
        case .resolverBusy(let reason): self = .notAsked(reason: reason)
        case .addressNotAllowed(let reason): self = .addressNotAllowed(reason: reason)
        case .tooLong: self = .tooLong
        }
    }
}

/// One request to a publisher's server and its response, without token and secret, for testing the settings.
package struct PublisherExchange: Hashable, Sendable {
    /// The maximum number of characters of a response body that are shown. The rest is left out.
    static let maximumShown = 4096

    package var method: String
    package var url: String
    /// The body of the request, or `nil` if it has none.
    package var request: String?
    /// The HTTP status, or `nil` without a response.
    package var status: Int?
    /// The beginning of the response's body, or `nil` without a response.
    package var response: String?
    /// The product ids in the response, sorted, or `nil` without a usable response.
    package var products: [String]?
    /// The reason why there is no usable response, or `nil` if there is one.
    package var error: String?
    /// The time from the start of the name look-up to the end of the response.
    package var duration: Duration = .zero
}
