import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import ProviderModel
import PushSupport
import PushTypes

/// An HTTP client for the receiver of one webhook, used for the requests of one run.
struct WebhookReceiver: Sendable {
    /// The maximum length of a response body that is read in order to reuse the connection, in bytes.
    private static let maximumResponseLength = 64 * 1024
    private static let maximumResponseTime: Duration = .seconds(1)

    private let client: PinnedClient
    private let deadline: Duration

    /// Checks the URL of a webhook and resolves its host. Throws ``WebhookFailure`` if no request can be sent there.
    init(
        _ webhook: WebhookRecord,
        _ policy: AddressPolicy,
        _ resolver: any NameResolver,
        deadline: Duration
    ) async throws(WebhookFailure) {
        self.deadline = deadline
        do {
            self.client = try await PinnedClient(
                webhook.url,
                app: webhook.app,
                givenBy: .settings,
                attempt: webhook.failures,
                policy,
                resolver,
                deadline: deadline
            )
        } catch {
            throw WebhookFailure(error)
        }
    }

    /// Closes the connection. It must be called after the last request.
    func close() async { await self.client.close() }

    /// Sends `body` in a signed POST request, and returns the 2xx status of the response.
    /// - Throws: ``WebhookFailure``, also for any other status.
    @discardableResult
    func post(_ body: Data, secret: String, now: Timestamp) async throws(WebhookFailure) -> Int {
        let secrets = WebhookSecret.all(in: secret)
        guard !secrets.isEmpty else { throw .unsignable }
        var request = HTTPClientRequest(url: self.client.address.url)
        request.method = .POST
        request.headers = [
            "content-type": "application/json",
            "user-agent": "martlet",
            WebhookSignature.header: WebhookSignature.make(of: body, secrets: secrets, at: now),
        ]
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            response = try await self.client.execute(request, deadline: self.deadline)
        } catch {
            throw WebhookFailure(error)
        }
        await Self.drain(response)
        guard (200..<300).contains(response.status.code) else {
            let after = RetryAfter.read(response.headers.first(name: "retry-after"), now: now)
            throw .status(Int(response.status.code), retryAfter: after)
        }
        return Int(response.status.code)
    }

    /// Discards the body of a response. It is never shown, because it could come from a host whose data the caller of
    /// the API must not see.
    private static func drain(_ response: HTTPClientResponse) async {
        _ = try? await withTimeLimit(Self.maximumResponseTime) {
            try await response.body.collect(upTo: Self.maximumResponseLength)
        }
    }
}

extension WebhookFailure {
    fileprivate init(_ failure: PinnedClientFailure) {
        switch failure {
        case .noResponse, .noConnection, .tooLong: self = .noResponse(reason: failure.text)
        case .resolverBusy(let reason): self = .notPosted(reason: reason)
        case .addressNotAllowed(let reason): self = .addressNotAllowed(reason: reason)
        }
    }
}
