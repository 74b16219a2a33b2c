import AsyncHTTPClient
package import Foundation
import NIOCore
import NIOHTTP1
package import PushStore
import PushSupport
package import PushTypes

/// How posts go out.
package struct WebhookLimits: Sendable {
    /// For the look-up of a name, and again from there to the status of the answer. Default 10 s.
    package var deadline: Duration = .seconds(10)
    /// Posts at the same time. Default 16.
    package var inFlight = 16
    /// Of these, posts to receivers whose last post failed, so that slow ones do not hold up others. Default 8.
    package var inFlightFailing = 8
    /// Posts of one webhook before others have their turn. Default 16.
    package var turn = 16
    /// The longest sleep without a signal. Default 5 s.
    package var sleep: Duration = .seconds(5)
    /// Signals within this time count as one, so that posts carry more. Default 200 ms.
    package var gathering: Duration = .milliseconds(200)

    package init() {}
}

/// The receiving end of one webhook for a few posts: its name is resolved and checked once, and all of them go to the
/// address that was checked, so that a name that changes its meaning gains nothing.
package struct WebhookReceiver: Sendable {
    /// An answer's body is read up to here, only so that the connection can be used again.
    private static let maximumAnswerLength = 64 * 1024
    private static let maximumAnswerTime: Duration = .seconds(1)

    private let address: WebhookAddress
    private let client: HTTPClient
    private let deadline: Duration

    /// - Parameters:
    ///   - attempt: chooses among the addresses of a name, so that the next try goes to another.
    /// - Throws: ``WebhookFailure``.
    package init(
        _ webhook: WebhookRecord,
        policy: AddressPolicy,
        resolver: any NameResolver,
        attempt: Int,
        deadline: Duration
    ) async throws(WebhookFailure) {
        do {
            self.address = try WebhookAddress(webhook.url, policy: policy)
        } catch {
            throw .refused(why: error.message)
        }
        self.deadline = deadline
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = TimeAmount(deadline)
        if self.address.literal == nil {
            let address = try await Self.resolve(
                self.address.host,
                app: webhook.app,
                policy: policy,
                resolver: resolver,
                attempt: attempt,
                deadline: deadline
            )
            configuration.dnsOverride = [self.address.host: address.description]
        }
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Must be called once no more is posted.
    package func close() async {
        try? await self.client.shutdown()
    }

    /// Posts `body`; returns when the receiver has taken it.
    /// - Throws: ``WebhookFailure``.
    package func post(_ body: Data, secret: String, now: Timestamp) async throws(WebhookFailure) {
        let secrets = WebhookSecret.all(in: secret)
        guard !secrets.isEmpty else { throw .unsignable }
        var request = HTTPClientRequest(url: self.address.url)
        request.method = .POST
        request.headers = [
            "content-type": "application/json",
            "user-agent": "martlet",
            WebhookSignature.header: WebhookSignature.make(of: body, secrets: secrets, at: now),
        ]
        request.body = .bytes(ByteBuffer(bytes: body))
        let response: HTTPClientResponse
        do {
            response = try await self.client.execute(request, deadline: .now() + TimeAmount(self.deadline))
        } catch {
            throw .noAnswer(why: Self.words(for: error))
        }
        await Self.drain(response)
        guard (200..<300).contains(response.status.code) else {
            let after = RetryAfter.read(response.headers.first(name: "retry-after"), now: now)
            throw .status(Int(response.status.code), retryAfter: after)
        }
    }

    private static func resolve(
        _ name: String,
        app: Int64,
        policy: AddressPolicy,
        resolver: any NameResolver,
        attempt: Int,
        deadline: Duration
    ) async throws(WebhookFailure) -> IPAddress {
        let found: [IPAddress]
        do {
            found = try await resolver.addresses(of: name, for: app, within: deadline)
        } catch {
            throw .noAnswer(why: "\(error)")
        }
        let allowed = found.filter(policy.allows)
        guard !allowed.isEmpty else { throw .refused(why: "its name stands for a private or reserved one") }
        return allowed[Int(attempt.magnitude % UInt(allowed.count))]
    }

    /// Nothing of what a receiver says is kept: it could be the answer of somebody who was not meant to be asked.
    private static func drain(_ response: HTTPClientResponse) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await response.body.collect(upTo: Self.maximumAnswerLength) }
            group.addTask { try? await Task.sleep(for: Self.maximumAnswerTime) }
            await group.next()
            group.cancelAll()
        }
    }

    private static func words(for error: any Error) -> String {
        switch error as? HTTPClientError {
        case .deadlineExceeded?, .connectTimeout?, .getConnectionFromPoolTimeout?, .tlsHandshakeTimeout?:
            "the receiver was too slow"
        case .remoteConnectionClosed?: "the receiver closed the connection"
        case let error?: error.shortDescription
        case nil: String("\(error)".prefix(200))
        }
    }
}

/// Reads a `retry-after` header (RFC 9110 section 10.2.3).
enum RetryAfter {
    /// `nil` for what is neither a number of seconds nor a date in the preferred form.
    static func read(_ text: String?, now: Timestamp) -> Duration? {
        guard let text, text.utf8.count <= 40 else { return nil }
        if let seconds = UInt32(text) { return .seconds(Int64(seconds)) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = formatter.date(from: text) else { return nil }
        let seconds = Int64(exactly: date.timeIntervalSince1970.rounded()) ?? 0
        return max(.zero, Timestamp(seconds: seconds).since(now))
    }
}
