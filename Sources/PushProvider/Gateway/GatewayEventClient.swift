import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PushSupport
package import PushTypes

/// An event that a gateway has recorded about a push.
package struct GatewayEvent: Hashable, Sendable {
    /// The number of the event. Later events have higher numbers.
    package var id: Int64
    /// The stable name of the event, such as `delivered`.
    package var name: String
    /// The display name of the event, such as `Delivered to Device`.
    package var text: String
    package var at: Timestamp
    /// The `apns-id` of the push, or `nil` for an event of a device.
    package var apnsID: String?
}

struct GatewayEventPage {
    var events: [GatewayEvent]
    /// The number of entries of the page, including those that could not be parsed.
    var count: Int
    /// The highest id of an entry, after which the next page begins, or `nil` if no entry has an id.
    var last: Int64?
}

/// The error of a gateway whose events could not be read.
package struct GatewayEventsFailure: Error, Hashable, CustomStringConvertible {
    package let description: String
}

/// Reads the events of a gateway from its admin API.
package struct GatewayEventClient: Sendable {
    /// The maximum duration of a request including its response, after which it fails. Default 2 s.
    package var deadline: Duration = .seconds(2)
    /// The maximum length of a response, in bytes. A longer one is an error.
    private static let maximumLength = 1024 * 1024
    /// The maximum number of events of one push that are read. Further ones are left out.
    private static let maximumEvents = 200
    /// The maximum length of an event's name or text, in characters. Longer ones are truncated.
    private static let maximumText = 200

    /// The range of valid event times, in milliseconds: the years 2000 to 9999. Events with other times are skipped.
    private static let times: Range<Int64> = 946_684_800_000..<253_402_300_800_000

    /// The URL of the admin API, without a slash at its end.
    package let url: String

    /// Creates a client. Returns `nil` unless `url` is an `http` or `https` URL with a host and no path except a slash.
    package init?(url: String) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", parts.host?.isEmpty == false, parts.query == nil,
            parts.fragment == nil, parts.user == nil, parts.path.isEmpty || parts.path == "/"
        else { return nil }
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// Returns the events of a push, the oldest first.
    /// - Parameter deadline: The maximum duration of this request, or `nil` for ``deadline``.
    /// - Throws: ``GatewayEventsFailure``, which names the address of the gateway.
    package func events(
        apnsID: String,
        within deadline: Duration? = nil
    ) async throws(GatewayEventsFailure) -> [GatewayEvent] {
        try await self.values(
            query: "apnsId=\(PercentEncoding.component(apnsID))&limit=\(Self.maximumEvents)",
            within: deadline
        )
        .compactMap(Self.event).sorted { ($0.at, $0.id) < ($1.at, $1.id) }
    }

    /// Returns a page of at most `limit` events with ids above `after`, the oldest first.
    /// - Throws: ``GatewayEventsFailure``, which names the address of the gateway.
    func page(after: Int64, limit: Int) async throws(GatewayEventsFailure) -> GatewayEventPage {
        let values = try await self.values(query: "after=\(after)&limit=\(limit)")
        return GatewayEventPage(
            events: values.compactMap(Self.event),
            count: values.count,
            last: values.compactMap { value -> Int64? in
                if case .object(let members) = value, case .integer(let id)? = members["id"] { id } else { nil }
            }.max()
        )
    }

    private func values(
        query: String,
        within deadline: Duration? = nil
    ) async throws(GatewayEventsFailure) -> [JSONValue] {
        do {
            let body = try await self.get("\(self.url)/v1/events?\(query)", within: deadline ?? self.deadline)
            guard case .object(let members)? = try? JSONValue(parsing: body),
                case .array(let values)? = members["events"]
            else { throw GatewayEventsFailure(description: "its response has no events") }
            return values
        } catch {
            let reason = Self.reason(error)
            throw GatewayEventsFailure(
                description: "the events of the gateway at \(self.url) are unavailable: \(reason)"
            )
        }
    }

    /// Parses an event, or returns `nil` for JSON that is not an event.
    private static func event(_ value: JSONValue) -> GatewayEvent? {
        guard case .object(let members) = value, case .integer(let id)? = members["id"],
            case .string(let name)? = members["name"], case .integer(let at)? = members["timeMs"],
            Self.times.contains(at)
        else { return nil }
        var text = name
        if case .string(let words)? = members["event"] { text = words }
        var apnsID: String?
        if case .string(let id)? = members["apnsId"] { apnsID = id }
        return GatewayEvent(
            id: id,
            name: String(name.prefix(Self.maximumText)),
            text: String(text.prefix(Self.maximumText)),
            at: Timestamp(milliseconds: at),
            apnsID: apnsID
        )
    }

    /// The HTTP client for all requests. It keeps idle connections. Each request has its own deadline.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        // Servers keep idle connections longer.
        configuration.connectionPool.idleTimeout = .seconds(5)
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private func get(_ url: String, within deadline: Duration) async throws -> Data {
        let body = try await withTimeLimit(deadline) {
            let request = HTTPClientRequest(url: url)
            let response = try await Self.client.execute(request, timeout: TimeAmount(deadline))
            guard response.status == .ok else {
                throw GatewayEventsFailure(description: "status \(response.status.code)")
            }
            return Data(try await response.body.collect(upTo: Self.maximumLength).readableBytesView)
        }
        guard let body else {
            throw GatewayEventsFailure(description: "no response within \(self.deadline.readable)")
        }
        return body
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as GatewayEventsFailure: error.description
        case is NIOTooManyBytesError: "its response is longer than \(Self.maximumLength) bytes"
        case let error as HTTPClientError: error.shortDescription
        default: ErrorDescription.of(error)
        }
    }
}
