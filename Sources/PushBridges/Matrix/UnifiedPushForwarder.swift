import Foundation
import NIOHTTP1
import PushProvider
import PushSupport
import PushTypes
import PushWire
import Synchronization

/// Posts the body of another system's request unchanged to a UnifiedPush endpoint (RFC 8030 without encryption).
///
/// A discovery request checks first that an address is such an endpoint, because unauthenticated clients can name any
/// address.
struct UnifiedPushForwarder: Sendable {
    /// The maximum lengths of an endpoint's URL and of a body, in bytes (UnifiedPush, server specification). A longer
    /// endpoint counts as gone, and a longer body is refused.
    static let (maximumEndpoint, maximumBody) = (1000, WebPushRequest.maximumBody)
    /// The maximum length of the response to the discovery request, in bytes. A longer one shows that there is no
    /// endpoint.
    private static let maximumDiscovery = 1000
    /// The time to live of a message at the push server, in seconds: one day.
    private static let ttl = "86400"

    /// The result of a request to an endpoint, which determines the response to the client.
    enum End: Hashable, Sendable {
        case accepted
        /// The result if the endpoint no longer exists or never did.
        case gone
        /// The result if the push server has rejected the message with this HTTP status, and would reject a repetition
        /// too.
        case refused(status: Int)
        /// The result if the provider's address policy forbids the endpoint, although the endpoint may be valid.
        case notAllowed
        /// The result if the response to the discovery request does not identify the address as a UnifiedPush endpoint.
        case noEndpoint
        /// The result if the request failed, but another attempt may succeed. `retryAfter` is the delay that the push
        /// server asks for, or `nil` if it names none.
        case unavailable(retryAfter: Duration?)
    }

    private let client: RestrictedHTTPClient
    private let budgets: BudgetRegistry
    private let time: any TimeSource
    private let endpoints = UnifiedPushEndpoints()

    init(client: RestrictedHTTPClient, budgets: BudgetRegistry, time: any TimeSource) {
        (self.client, self.budgets, self.time) = (client, budgets, time)
    }

    /// Posts a body to an endpoint.
    /// - Parameters:
    ///   - app: The app to which the request is charged. Its name resolutions share a limit.
    ///   - client: The unauthenticated client that named the endpoint.
    ///   - isUrgent: Whether the device may be woken for the message.
    /// - Throws: ``BudgetRefusal`` if too many requests are in progress.
    func forward(
        _ body: Data,
        to endpoint: String,
        app: (id: Int64, bundleID: Topic),
        for client: BudgetCaller,
        isUrgent: Bool
    ) async throws(BudgetRefusal) -> End {
        guard endpoint.utf8.count <= Self.maximumEndpoint else { return .gone }
        guard (1...Self.maximumBody).contains(body.count) else { return .refused(status: 413) }
        guard let server = WebOrigin(endpoint) else { return .notAllowed }
        let places = try self.places(of: app.bundleID, at: server.description, for: client)
        defer { for place in places { place.end() } }
        if let end = try await self.discover(endpoint, app, client) { return end }
        // UnifiedPush servers expect the content coding of Web Push for any body.
        let headers: HTTPHeaders = [
            "user-agent": "martlet", "ttl": Self.ttl, "content-encoding": "aes128gcm",
            "urgency": (isUrgent ? WebPushRequest.Urgency.high : .normal).rawValue,
        ]
        do throws(PinnedClientFailure) {
            let response = try await self.client.request(.POST, endpoint, headers: headers, body: body, app: app.id)
            let end = self.end(response)
            if end == .gone { self.endpoints.forget(endpoint) }
            return end
        } catch {
            return Self.end(error)
        }
    }

    /// Takes the permits for a request from three budgets: those of the client, the host, and the client at the host.
    ///
    /// The client is identified by its network, because strangers can name any host, including one that all other
    /// clients use.
    func places(of app: Topic, at host: String, for client: BudgetCaller) throws(BudgetRefusal) -> [BudgetPermit] {
        let site = client.identity.site
        let own = try self.budgets[.forwards].take(for: BudgetCaller(app: app, site))
        let name =
            if case .network(let bytes) = site { bytes.map(String.init).joined(separator: ".") } else { "\(site)" }
        let part = try self.budgets[.clientHostForwards].take(for: BudgetCaller(app: app, .name("\(name) \(host)")))
        let place = try self.budgets[.hostForwards].take(for: BudgetCaller(app: app, .name(host)))
        return [own, part, place]
    }

    /// Discovers whether an address is a UnifiedPush endpoint (UnifiedPush, server specification 1.2, discovery).
    /// - Returns: The result to report without sending the message, or `nil` if the address is an endpoint.
    private func discover(
        _ endpoint: String,
        _ app: (id: Int64, bundleID: Topic),
        _ client: BudgetCaller
    ) async throws(BudgetRefusal) -> End? {
        switch self.endpoints.isEndpoint(endpoint, now: self.time.steady) {
        case true?: return nil
        case false?: return .noEndpoint
        case nil: break
        }
        try self.budgets[.unknownTokens].spend(for: BudgetCaller(app: app.bundleID, client.identity.site))
        do throws(PinnedClientFailure) {
            let response = try await self.client.request(
                .GET,
                endpoint,
                headers: ["user-agent": "martlet", "accept": "application/json"],
                app: app.id,
                maximum: Self.maximumDiscovery
            )
            let end = self.end(response)
            switch end {
            case .gone, .unavailable: return end
            case .accepted, .refused, .notAllowed, .noEndpoint: break
            }
            let version = (try? JSONValue(parsing: response.body))?["unifiedpush"]["version"].integerValue ?? 0
            let isEndpoint = response.status == 200 && version >= 1
            self.endpoints.note(endpoint, isEndpoint: isEndpoint, now: self.time.steady)
            return isEndpoint ? nil : .noEndpoint
        } catch {
            if case .tooLong = error {
                self.endpoints.note(endpoint, isEndpoint: false, now: self.time.steady)
                return .noEndpoint
            }
            return Self.end(error)
        }
    }

    private func end(_ response: RestrictedHTTPClient.Response) -> End {
        switch response.status {
        case 200..<300: .accepted
        case 404, 410: .gone
        case 408, 429, 500...: .unavailable(retryAfter: response.retryAfter(now: self.time.now))
        default: .refused(status: response.status)
        }
    }

    private static func end(_ failure: PinnedClientFailure) -> End {
        if case .addressNotAllowed = failure { .notAllowed } else { .unavailable(retryAfter: nil) }
    }
}

extension UnifiedPushForwarder: NotificationForwarder {
    /// Forwards the body of a homeserver's request to an endpoint. Throws ``RetryLaterError`` if another attempt may
    /// succeed.
    ///
    /// A message is dropped if a repetition would fail too, because a homeserver repeats a request for a day and holds
    /// back all later ones.
    func forward(
        _ body: [UInt8],
        to endpoint: String,
        of app: MatrixApp,
        for client: BudgetCaller
    ) async throws -> UnifiedPushOutcome {
        let app = (id: app.id, bundleID: app.bundleID)
        switch try await self.forward(Data(body), to: endpoint, app: app, for: client, isUrgent: true) {
        case .accepted, .refused, .notAllowed, .noEndpoint: return .accepted
        case .gone: return .gone
        case .unavailable(let delay):
            let message = "the push server of an endpoint cannot be reached now"
            let error = RequestError(.unavailable, code: "endpoint_unavailable", message: message)
            throw RetryLaterError(error, after: delay ?? .seconds(5))
        }
    }
}

/// The results of recent discovery requests: for each address, whether it is a UnifiedPush endpoint.
private final class UnifiedPushEndpoints: Sendable {
    /// The maximum number of addresses that are remembered. To make room, expired and negative results are forgotten
    /// first. If that does not suffice, all are.
    private static let maximum = 10_000
    /// The times for which a positive and a negative result are remembered.
    private static let (trusted, refused) = (Duration.seconds(86_400), Duration.seconds(600))

    private struct Answer {
        var isEndpoint: Bool
        var until: Timestamp
    }

    private let answers = Mutex<[String: Answer]>([:])

    /// Returns the remembered result for an address, or `nil` if a discovery request is needed.
    /// - Parameter now: The current time, by the steady clock.
    func isEndpoint(_ address: String, now: Timestamp) -> Bool? {
        self.answers.withLock { answers in
            guard let answer = answers[address], now < answer.until else { return nil }
            return answer.isEndpoint
        }
    }

    func note(_ address: String, isEndpoint: Bool, now: Timestamp) {
        let answer = Answer(isEndpoint: isEndpoint, until: now.advanced(by: isEndpoint ? Self.trusted : Self.refused))
        self.answers.withLock { answers in
            if answers.count >= Self.maximum {
                answers = answers.filter { now < $0.value.until && $0.value.isEndpoint }
                if answers.count >= Self.maximum { answers = [:] }
            }
            answers[address] = answer
        }
    }

    func forget(_ address: String) { self.answers.withLock { $0[address] = nil } }
}
