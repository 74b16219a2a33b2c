import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushStore
import PushSupport
import PushTypes

/// A publisher's server, which is asked about the products that an account is entitled to.
protocol PublisherAsking: Sendable {
    /// - Throws: ``PublisherFailure``.
    func ask(
        _ question: PublisherQuestion,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> PublisherAnswer
}

/// The client of publishers' servers. Each question has a connection of its own, to an address that was checked for it.
struct PublisherClient: PublisherAsking {
    let addresses: AddressPolicy
    let resolver: any NameResolver
    /// The most time of a question, from the look-up of the name to the end of the answer.
    let deadline: Duration
    let time: any TimeSource

    /// A response as it came.
    private struct Response: Sendable {
        var status: Int
        var body: [UInt8]
    }

    func ask(
        _ question: PublisherQuestion,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> PublisherAnswer {
        let response = try await self.response(to: question, server)
        return try PublisherAnswer(status: response.status, body: response.body, form: server.form)
    }

    /// Asks, and returns everything about it that is no secret.
    func exchange(_ question: PublisherQuestion, _ server: EntitlementServerRecord) async -> PublisherExchange {
        let start = ContinuousClock.now
        let shown = question.withoutToken.request(server.form, target: Self.target(of: server.url))
        var exchange = PublisherExchange(
            method: shown.method,
            url: Self.origin(of: server.url) + shown.target,
            request: shown.body.map { String(decoding: $0, as: UTF8.self) }
        )
        do throws(PublisherFailure) {
            let response = try await self.response(to: question, server)
            exchange.status = response.status
            exchange.response = Self.text(response.body, without: question.tokens + [server.secret])
            switch try PublisherAnswer(status: response.status, body: response.body, form: server.form) {
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
        to question: PublisherQuestion,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> Response {
        // The client's own deadline ends with the head of the response.
        let first = await withTaskGroup(of: Result<Response, PublisherFailure>?.self) { group in
            group.addTask {
                do throws(PublisherFailure) {
                    return .success(try await self.unboundedResponse(to: question, server))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await Task.sleep(for: self.deadline)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let first else { throw .noResponse(reason: "the server was too slow") }
        return try first.get()
    }

    private func unboundedResponse(
        to question: PublisherQuestion,
        _ server: EntitlementServerRecord
    ) async throws(PublisherFailure) -> Response {
        let client: PinnedClient
        do {
            client = try await PinnedClient(
                server.url,
                app: server.app,
                self.addresses,
                self.resolver,
                deadline: self.deadline
            )
        } catch {
            throw PublisherFailure(error)
        }
        let result: Result<Response, PublisherFailure>
        do throws(PublisherFailure) {
            result = .success(try await self.response(to: question, server, client))
        } catch {
            result = .failure(error)
        }
        await client.close()
        return try result.get()
    }

    private func response(
        to question: PublisherQuestion,
        _ server: EntitlementServerRecord,
        _ client: PinnedClient
    ) async throws(PublisherFailure) -> Response {
        let content = question.request(server.form, target: client.address.target)
        var request = HTTPClientRequest(url: client.address.origin + content.target)
        request.method = HTTPMethod(rawValue: content.method)
        let signature = WebhookSignature.make(of: content.signedBytes, secrets: [server.secret], at: self.time.now)
        request.headers = ["user-agent": "martlet", WebhookSignature.header: signature]
        if let body = content.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: self.deadline)
        } catch {
            throw PublisherFailure(error)
        }
        do {
            let body = try await response.body.collect(upTo: PublisherAnswer.maximumLength)
            return Response(status: Int(response.status.code), body: Array(body.readableBytesView))
        } catch is NIOTooManyBytesError {
            throw .tooLong
        } catch {
            throw .noResponse(reason: PinnedClient.description(of: error))
        }
    }

    // MARK: What people see

    private static func address(_ url: String) -> WebhookAddress? {
        try? WebhookAddress(url, policy: AddressPolicy(allowsPrivate: true))
    }

    private static func origin(of url: String) -> String { self.address(url)?.origin ?? "" }

    private static func target(of url: String) -> String { self.address(url)?.target ?? "/" }

    /// Returns the beginning of a body without secrets and control characters.
    private static func text(_ body: [UInt8], without secrets: [String]) -> String {
        let whole = String(decoding: body, as: UTF8.self)
        let text = secrets.filter { !$0.isEmpty }.reduce(whole) { $0.replacing($1, with: PublisherQuestion.mask) }
        let shown = text.unicodeScalars.lazy.filter { $0 == "\n" || $0.value >= 0x20 }
            .prefix(PublisherExchange.maximumShown)
        return String(String.UnicodeScalarView(shown))
    }
}

extension PublisherFailure {
    fileprivate init(_ failure: PinnedClientFailure) {
        switch failure {
        case .noResponse(let reason), .noConnection(let reason): self = .noResponse(reason: reason)
        case .addressNotAllowed(let reason): self = .addressNotAllowed(reason: reason)
        }
    }
}
