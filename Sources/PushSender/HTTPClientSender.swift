import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import PushProtocol
import Synchronization

/// Sends over HTTP/2 with async-http-client: one environment, one key.
final class HTTPClientSender: NotificationSender {
    /// From the start of a request to its answer.
    static let replyTimeout: TimeAmount = .seconds(30)
    /// Largest error body read, in bytes; the real ones have under 100.
    static let maximumReplyLength = 4096

    private let endpoint: PushServiceEndpoint
    private let client: HTTPClient
    private let time: any TimeSource
    private let token: Mutex<ProviderToken>

    init(endpoint: PushServiceEndpoint, key: ProviderKey, client: HTTPClient, time: any TimeSource) {
        self.endpoint = endpoint
        self.client = client
        self.time = time
        self.token = Mutex(ProviderToken(key: key))
    }

    func shutdown() async throws {
        try await self.client.shutdown()
    }

    func send(_ notification: PushNotification, to token: DeviceToken) async -> Outcome {
        let request: HTTPClientRequest
        do {
            request = try self.request(for: notification, to: token)
        } catch {
            return .notSent(.init("the provider token could not be signed: \(error)"))
        }
        do {
            let response = try await self.client.execute(request, timeout: Self.replyTimeout)
            if response.status == .ok {
                return .accepted(
                    .init(
                        id: response.headers.first(name: "apns-id") ?? notification.id,
                        uniqueID: response.headers.first(name: "apns-unique-id")
                    )
                )
            }
            let body = try await response.body.collect(upTo: Self.maximumReplyLength)
            return .rejected(
                PushReply.rejection(
                    status: Int(response.status.code),
                    retryAfter: response.headers.first(name: "retry-after"),
                    body: body
                )
            )
        } catch {
            return Self.outcome(of: error)
        }
    }

    private func request(for notification: PushNotification, to token: DeviceToken) throws -> HTTPClientRequest {
        let now = self.time.now
        let providerToken = try self.token.withLock { try $0.text(now: now) }
        var request = HTTPClientRequest(
            url: "https://\(self.endpoint.host):\(self.endpoint.port)/3/device/\(token.hex)"
        )
        request.method = .POST
        request.headers = HTTPHeaders(
            Self.headers(for: notification) + [("authorization", "bearer \(providerToken)")]
        )
        request.body = .bytes(notification.payload)
        return request
    }

    /// The headers of reference 1.5 that this notification needs; what has the default value is left out.
    static func headers(for notification: PushNotification) -> [(String, String)] {
        var headers = [("apns-topic", notification.topic.name), ("apns-id", notification.id)]
        if let type = notification.pushType { headers.append(("apns-push-type", type.rawValue)) }
        if notification.priority != .immediate {
            headers.append(("apns-priority", String(notification.priority.rawValue)))
        }
        if let expiration = notification.expiration.header { headers.append(("apns-expiration", expiration)) }
        if let collapseID = notification.collapseID { headers.append(("apns-collapse-id", collapseID)) }
        return headers
    }

    /// What the system says when no connection came about.
    private static let connectErrors: Set<CInt> = [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL]

    /// Failures before a connection stood are "not sent"; after that nobody can tell.
    private static func outcome(of error: any Error) -> Outcome {
        switch error {
        case let error as IOError where Self.connectErrors.contains(error.errnoCode):
            .notSent(.init("no connection to the push service: \(error)"))
        case is NIOConnectionError, is NIOSSLExtraError, NIOSSLError.handshakeFailed:
            .notSent(.init("no connection to the push service: \(error)"))
        case let error as HTTPClientError
        where [.connectTimeout, .alreadyShutdown, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout].contains(error):
            .notSent(.init("no connection to the push service: \(error.shortDescription)"))
        case let error as HTTPClientError:
            .unknown(.init("no answer from the push service: \(error.shortDescription)"))
        default:
            .unknown(.init("no answer from the push service: \(error)"))
        }
    }
}
